import type { Context, MiddlewareHandler } from "hono";
import { drained } from "../capture/drain.ts";
import { type Capture, createCapture, type Exchange } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import { incomingOf, tapRequest, trackResponse } from "../capture/web.ts";
import type { Logger } from "../types.ts";

export type { CaptureOptions } from "../capture/options.ts";

/** What the middleware puts into the context: `c.get("logger")`, whose entries carry the request's trace. */
export interface TaffrailVariables {
  logger: Logger;
}

/** The outgoing message of `@hono/node-server`, which knows best when a response has ended. */
interface Outgoing {
  once(event: "close", listener: () => void): unknown;
  readonly closed: boolean;
  readonly writableFinished: boolean;
  getHeader(name: string): unknown;
}

/**
 * Captures requests, responses and errors. Put it before everything else.
 *
 * On Workers each request flushes in `waitUntil` once its response has ended, so nothing is left to a timer.
 *
 * @param logger or a function that gives it, where its options are in `c.env`; it should give the same one each time
 * @throws TypeError for options that are wrong
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
    waitUntilOf(c)?.(ended.then(() => drained(root)));
    try {
      await exchange.run(next);
    } catch (error) {
      // Thrown past Hono: there will be no response of its own.
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

/** Hono adds the old response's headers to a new one, unless there is no old one. */
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
      // What `fetch` gave cannot be changed.
      c.header(exchange.timingHeader, exchange.timing());
    }
  }
  const end = (): void => {
    const length = Number(outgoing.getHeader("content-length"));
    const isWhole = outgoing.writableFinished;
    exchange.ended({ status, aborted: !isWhole, bytes: isWhole && length >= 0 ? length : undefined });
  };
  // The client may have left while the handler was at work.
  if (outgoing.closed) end();
  else outgoing.once("close", end);
}

function outgoingOf({ env }: Context): Outgoing | undefined {
  // SAFETY: the environment may be anything; `once` is looked for before it is called.
  const outgoing = (env as { outgoing?: Partial<Outgoing> } | undefined)?.outgoing;
  return typeof outgoing?.once === "function" ? (outgoing as Outgoing) : undefined;
}

function waitUntilOf(c: Context): ((promise: Promise<unknown>) => void) | undefined {
  try {
    const { executionCtx } = c;
    return (promise) => executionCtx.waitUntil(promise);
  } catch {
    // There is none outside of Workers.
    return undefined;
  }
}
