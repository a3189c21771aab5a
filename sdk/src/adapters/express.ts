import type { IncomingMessage, ServerResponse } from "node:http";
import type { BodyTap } from "../capture/body.ts";
import { createCapture, type Exchange } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import type { Logger } from "../types.ts";

export type { CaptureOptions } from "../capture/options.ts";
export { webHandler } from "./web-handler.ts";

/** A request of Express, Connect or plain Node. */
export type CapturedRequest = IncomingMessage & {
  originalUrl?: string;
  /** Entries logged with it carry the request's trace. */
  log?: Logger;
};

type Middleware = (request: CapturedRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
type ErrorMiddleware = (
  error: unknown,
  request: CapturedRequest,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

const exchanges = new WeakMap<IncomingMessage, Exchange>();

/**
 * Captures requests and responses, for Express 4 and 5, Connect and plain Node servers. Put it before everything else,
 * body parsers included, and `taffrailErrors()` after the routes. `req.log` carries the request's trace.
 * @throws TypeError for options that are wrong
 */
export function taffrail(logger: Logger, options: CaptureOptions = {}): Middleware {
  const capture = createCapture(logger, options);
  return (request, response, next) => {
    const exchange = capture({
      method: request.method ?? "GET",
      url: request.originalUrl ?? request.url ?? "/",
      header: (name) => {
        const value = request.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      },
      headers: () => headerPairs(request.rawHeaders),
    });
    exchanges.set(request, exchange);
    request.log = exchange.logger;
    tapRequest(exchange, request);
    watch(exchange, response);
    exchange.run(() => next());
  };
}

/** Captures what routes throw, and passes it on. Put it after the routes and before handlers of errors. */
export function taffrailErrors(): ErrorMiddleware {
  return (error, request, _response, next) => {
    exchanges.get(request)?.failed(error);
    next(error);
  };
}

function* headerPairs(raw: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < raw.length; i += 2) yield [(raw[i] ?? "").toLowerCase(), raw[i + 1] ?? ""];
}

/** Sees the body's chunks on their way in, whoever reads them and however. */
function tapRequest(exchange: Exchange, request: IncomingMessage): void {
  const { requestTap } = exchange;
  if (!requestTap) return;
  const push = request.push;
  request.push = (chunk, encoding) => {
    if (chunk === null) exchange.requestRead();
    else requestTap.push(chunk);
    return push.call(request, chunk, encoding);
  };
}

function watch(exchange: Exchange, response: ServerResponse): void {
  const { writeHead, write, end } = response;
  let tap: BodyTap | undefined;
  let bytes = 0;

  /** Headers are settled: the body begins. */
  function started(): void {
    const { timingHeader } = exchange;
    if (timingHeader && !response.headersSent) response.setHeader(timingHeader, exchange.timing());
  }

  function seen(chunk: unknown, encoding: unknown): void {
    if (chunk === undefined || chunk === null || typeof chunk === "function") return;
    const data = typeof chunk === "string" ? Buffer.from(chunk, encodingOf(encoding)) : chunk;
    if (!(data instanceof Uint8Array)) return;
    if (bytes === 0) {
      const header = (name: string): string => String(response.getHeader(name) ?? "");
      tap = exchange.responseTap(header("content-type"), header("content-encoding"));
    }
    bytes += data.length;
    tap?.push(data);
  }

  // SAFETY: each passes on exactly the arguments it was given, whichever overload they belong to.
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    started();
    return writeHead.apply(response, args);
  }) as typeof writeHead;
  response.write = ((...args: Parameters<typeof write>) => {
    seen(args[0], args[1]);
    return write.apply(response, args);
  }) as typeof write;
  response.end = ((...args: Parameters<typeof end>) => {
    seen(args[0], args[1]);
    return end.apply(response, args);
  }) as typeof end;
  response.once("close", () => {
    exchange.ended({ status: response.statusCode, aborted: !response.writableFinished, bytes, tap });
  });
}

function encodingOf(encoding: unknown): BufferEncoding {
  return typeof encoding === "string" && Buffer.isEncoding(encoding) ? encoding : "utf8";
}
