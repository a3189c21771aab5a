import { drained } from "../capture/drain.ts";
import { createCapture, type Exchange } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import { captureFetch, incomingOf } from "../capture/web.ts";
import type { Logger } from "../types.ts";

export type { CaptureOptions } from "../capture/options.ts";

export interface NextOptions extends CaptureOptions {
  /**
   * Keeps the function alive until what was logged is sent: `after` of `next/server`, or `waitUntil` of the platform.
   * Not needed where the server runs on.
   */
  waitUntil?: (promise: Promise<unknown>) => void;
}

/** What Next gives `onRequestError` of `instrumentation.ts`. */
export interface NextErrorRequest {
  path: string;
  method: string;
  headers: Record<string, string | string[] | undefined>;
}

export interface NextErrorContext {
  routerKind: string;
  routePath: string;
  routeType: string;
  renderSource?: string;
  revalidateReason?: string | undefined;
}

/** Errors that were logged. Next bundles routes and instrumentation apart, so it has to be the process's. */
const LOGGED = Symbol.for("taffrail.logged");

/**
 * Captures a route handler: `export const GET = withTaffrail(logger, (request) => ...)`.
 * `redirect()` and `notFound()` are no errors. The handler may ask for a `NextRequest`.
 * @throws TypeError for options that are wrong
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
    options.waitUntil?.(ended.then(() => drained(logger)));
    return captureFetch(withSignals(exchange), request, () => handler(request, ...rest), whenEnded);
  };
}

/**
 * Logs what Next's server catches, in pages, actions and middleware too:
 * `export const onRequestError = taffrailRequestError(logger)` in `instrumentation.ts`.
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
    // Where functions end with their response nothing else would send it.
    await logger.flush();
  };
}

/** Next redirects, and says that nothing is there, by throwing. */
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

/** The status that one of Next's own signals stands for; `undefined` for an error. */
function signalStatus(error: unknown): number | undefined {
  const digest = typeof error === "object" && error !== null && "digest" in error ? String(error.digest) : "";
  if (digest.startsWith("NEXT_REDIRECT;")) return Number(/;(30\d);/.exec(digest)?.[1] ?? 307);
  if (digest === "NEXT_NOT_FOUND") return 404;
  const [, status] = /^NEXT_HTTP_ERROR_FALLBACK;(\d{3})/.exec(digest) ?? [];
  return status === undefined ? undefined : Number(status);
}

function logged(): WeakSet<object> {
  // SAFETY: the symbol is this module's own, and nothing else is put there.
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
