import type { IncomingMessage, ServerResponse } from "node:http";
import { createCapture, type Exchange } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import type { Logger } from "../types.ts";
import { tapNodeRequest, watchNodeResponse } from "./node-http.ts";

export type { CaptureOptions } from "../capture/options.ts";
export { webHandler } from "./web-handler.ts";

declare global {
  namespace Express {
    /** Merged into the request of `@types/express`. */
    interface Request {
      /** Set by `taffrail(logger)`: entries logged with it carry the request's trace. */
      log: Logger;
    }
  }
}

/** A request of Connect or plain Node, where no type names `log`. Express's own request has it. */
export type CapturedRequest = IncomingMessage & {
  originalUrl?: string;
  /** Entries logged with it carry the request's trace. */
  log?: Logger;
};

/** Without `log`: another package's types may have given a request a `log` of their own. */
type NodeRequest = IncomingMessage & { originalUrl?: string };
type Middleware = (request: NodeRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
type ErrorMiddleware = (
  error: unknown,
  request: NodeRequest,
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
    Object.assign(request, { log: exchange.logger });
    tapNodeRequest(exchange, request);
    watchNodeResponse(exchange, response);
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
