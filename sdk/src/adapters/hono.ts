import type { Context, MiddlewareHandler } from "hono";
import { flushAll } from "../capture/drain.ts";
import { type Capture, createCapture, type Exchange } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import { incomingOf, tapRequest, trackResponse } from "../capture/web.ts";
import type { Logger } from "../types.ts";

export type { CaptureOptions } from "../capture/options.ts";

/** Variables that the middleware sets on the context: `c.get("logger")` logs with the request's trace. */
export interface TaffrailVariables {
  logger: Logger;
}

/** The outgoing message of `@hono/node-server`, whose `close` event marks the end of a response. */
interface Outgoing {
  once(event: "close", listener: () => void): unknown;
  readonly closed: boolean;
  readonly writableFinished: boolean;
  getHeader(name: string): unknown;
}

/**
 * Creates a Hono middleware that captures requests, responses and errors. Use it before all other middleware.
 *
 * On Workers each request flushes in `waitUntil` after its response has ended, because Workers end timers with the
 * request.
 *
 * @param logger a logger, or a function that returns it, if its options are in `c.env`. Return the same logger each
 * time.
 * @throws TypeError for invalid options
 * @example
 * import { Hono } from "hono";
 * import { createLogger } from "taffrail";
 * import { taffrail, type TaffrailVariables } from "taffrail/hono";
 *
 * const app = new Hono<{ Variables: TaffrailVariables }>();
 * app.use(taffrail(createLogger({ service: "shop" })));
 * app.get("/orders/:id", (c) => {
 *   c.get("logger").info("Order looked up", { id: c.req.param("id") });
 *   return c.json({ id: c.req.param("id") });
 * });
 */
export function taffrail(
  logger: Logger | ((c: Context) => Logger),
  options: CaptureOptions = {},
): MiddlewareHandler<{ Variables: TaffrailVariables }> {
  const captures = new WeakMap<Logger, Capture>();
  const captureFor = (one: Logger): Capture => {
    const known = captures.get(one) ?? createCapture(one, options);
    captures.set(one, known);
    return known;
  };
  if (typeof logger !== "function") captureFor(logger);
  return async (c, next) => {
    const root = typeof logger === "function" ? logger(c) : logger;
    const exchange = captureFor(root)(incomingOf(c.req.raw));
    c.set("logger", exchange.logger);
    tapRequest(exchange, c.req.raw);
    let whenEnded = (): void => {};
    const ended = new Promise<void>((resolve) => {
      whenEnded = resolve;
    });
    waitUntilOf(c)?.(ended.then(() => flushAll(root)));
    try {
      await exchange.run(next);
    } catch (error) {
      // An error that Hono did not handle: Hono creates no response for it.
      exchange.failed(error);
      exchange.ended({ status: 500 });
      whenEnded();
      throw error;
    }
    if (c.error) exchange.failed(c.error);
    const outgoing = outgoingOf(c);
    if (outgoing && !options.body) onNode(c, exchange, outgoing);
    else c.res = trackResponse(exchange, replaced(c), whenEnded);
  };
}

/** Removes the response from the context, because Hono would copy its headers to the next one. */
function replaced(c: Context): Response {
  const { res } = c;
  c.res = undefined;
  return res;
}

function onNode(c: Context, exchange: Exchange, outgoing: Outgoing): void {
  const { status } = c.res;
  if (exchange.timingHeader) {
    try {
      c.res.headers.set(exchange.timingHeader, exchange.timing());
    } catch {
      // The headers of a response from `fetch` are immutable.
      c.header(exchange.timingHeader, exchange.timing());
    }
  }
  const end = (): void => {
    const length = Number(outgoing.getHeader("content-length"));
    const isWhole = outgoing.writableFinished;
    exchange.ended({ status, aborted: !isWhole, bytes: isWhole && length >= 0 ? length : undefined });
  };
  // The client may have disconnected while the handler ran.
  if (outgoing.closed) end();
  else outgoing.once("close", end);
}

function outgoingOf({ env }: Context): Outgoing | undefined {
  // SAFETY: the environment has an unknown type; `once` is checked before it is called.
  const outgoing = (env as { outgoing?: Partial<Outgoing> } | undefined)?.outgoing;
  return typeof outgoing?.once === "function" ? (outgoing as Outgoing) : undefined;
}

function waitUntilOf(c: Context): ((promise: Promise<unknown>) => void) | undefined {
  try {
    const { executionCtx } = c;
    return (promise) => executionCtx.waitUntil(promise);
  } catch {
    // Outside of Workers Hono throws.
    return undefined;
  }
}
