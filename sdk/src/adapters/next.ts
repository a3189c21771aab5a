import { flushAll } from "../capture/drain.ts";
import { createCapture, type Exchange } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import { captureFetch, incomingOf } from "../capture/web.ts";
import type { Logger } from "../types.ts";

export type { CaptureOptions } from "../capture/options.ts";

export interface NextOptions extends CaptureOptions {
  /**
   * Keeps the function running until the entries are delivered: `after` of `next/server`, or `waitUntil` of the
   * platform. Not needed if the server keeps running.
   * @default none
   */
  waitUntil?: (promise: Promise<unknown>) => void;
}

/** The request that Next passes to `onRequestError` of `instrumentation.ts`. */
export interface NextErrorRequest {
  path: string;
  method: string;
  headers: Record<string, string | string[] | undefined>;
}

/** The context that Next passes to `onRequestError`. */
export interface NextErrorContext {
  routerKind: string;
  routePath: string;
  routeType: string;
  renderSource?: string;
  revalidateReason?: string | undefined;
}

/** Errors that were logged. Stored on `globalThis`, because Next bundles routes and instrumentation separately. */
const LOGGED = Symbol.for("taffrail.logged");

/**
 * Wraps a route handler and captures its requests. `redirect()` and `notFound()` are logged as responses, not as
 * errors. The handler may take a `NextRequest`.
 * @throws TypeError for invalid options
 * @example
 * // app/api/orders/route.ts
 * import { withTaffrail } from "taffrail/next";
 *
 * export const GET = withTaffrail(logger, async (request) => {
 *   const id = new URL(request.url).searchParams.get("id");
 *   return Response.json({ id });
 * });
 */
export function withTaffrail<Req extends Request = Request, Rest extends unknown[] = []>(
  logger: Logger,
  handler: (request: Req, ...rest: Rest) => Response | Promise<Response>,
  options: NextOptions = {},
): (request: Req, ...rest: Rest) => Promise<Response> {
  const capture = createCapture(logger, options);
  return async (request, ...rest) => {
    const exchange = capture(incomingOf(request));
    let whenEnded = (): void => {};
    const ended = new Promise<void>((resolve) => {
      whenEnded = resolve;
    });
    options.waitUntil?.(ended.then(() => flushAll(logger)));
    return captureFetch(withSignals(exchange), request, () => handler(request, ...rest), whenEnded);
  };
}

/**
 * Creates a handler that logs the errors which Next's server catches, also in pages, actions and middleware.
 * @example
 * // instrumentation.ts
 * import { taffrailRequestError } from "taffrail/next";
 *
 * export const onRequestError = taffrailRequestError(logger);
 */
export function taffrailRequestError(
  logger: Logger,
): (error: unknown, request: NextErrorRequest, context: NextErrorContext) => Promise<void> {
  return async (error, { method, path, headers }, { routerKind, routePath, routeType, renderSource }) => {
    if (isLogged(error) || signalStatus(error) !== undefined) return;
    markLogged(error);
    const { traceparent } = headers;
    const [place = path] = path.split("?");
    const text = error instanceof Error ? error.message : String(error);
    logger
      .child({ traceparent: typeof traceparent === "string" ? traceparent : null })
      .category("system", "error")
      .error(`${method} ${place} failed: ${text}`, {
        method,
        path: place,
        routerKind,
        routePath,
        routeType,
        ...(renderSource === undefined ? {} : { renderSource }),
        error,
      });
    // On platforms that end a function with its response, no later code would deliver the entry.
    await logger.flush();
  };
}

/** Logs the errors that Next throws for redirects and missing pages as responses with their status. */
function withSignals(exchange: Exchange): Exchange {
  let signal: number | undefined;
  return {
    ...exchange,
    failed(error) {
      signal = signalStatus(error);
      if (signal !== undefined) return;
      exchange.failed(error);
      markLogged(error);
    },
    ended: (ending) => exchange.ended(signal === undefined ? ending : { ...ending, status: signal }),
  };
}

/** Returns the status of an error that Next throws as a signal; `undefined` for other errors. */
function signalStatus(error: unknown): number | undefined {
  const digest = typeof error === "object" && error !== null && "digest" in error ? String(error.digest) : "";
  if (digest.startsWith("NEXT_REDIRECT;")) return Number(/;(30\d);/.exec(digest)?.[1] ?? 307);
  if (digest === "NEXT_NOT_FOUND") return 404;
  const [, status] = /^NEXT_HTTP_ERROR_FALLBACK;(\d{3})/.exec(digest) ?? [];
  return status === undefined ? undefined : Number(status);
}

function logged(): WeakSet<object> {
  // SAFETY: only this module uses the symbol.
  const shared = globalThis as { [LOGGED]?: WeakSet<object> };
  shared[LOGGED] ??= new WeakSet();
  return shared[LOGGED];
}

function isLogged(error: unknown): boolean {
  return typeof error === "object" && error !== null && logged().has(error);
}

function markLogged(error: unknown): void {
  if (typeof error === "object" && error !== null) logged().add(error);
}
