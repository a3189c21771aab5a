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
      /** Set by `taffrail(logger)`. Its entries carry the request's trace. */
      log: Logger;
    }
  }
}

/**
 * A captured request of Connect or plain Node, whose types have no `log`. Express's request type has `log` by merging.
 */
export type CapturedRequest = IncomingMessage & {
  originalUrl?: string;
  /** A logger whose entries carry the request's trace. */
  log?: Logger;
};

/** Has no `log`, because the types of another package may declare a different one. */
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
 * Creates a middleware that captures requests and responses, for Express 4 and 5, Connect and plain Node servers. Use
 * it before all other middleware, body parsers included, and `taffrailErrors()` after the routes. Entries of `req.log`
 * carry the request's trace.
 * @throws TypeError for invalid options
 * @example
 * import express from "express";
 * import { taffrail, taffrailErrors } from "taffrail/express";
 * import { createLogger } from "taffrail/node";
 *
 * const app = express();
 * app.use(taffrail(createLogger({ service: "shop" })));
 * app.get("/orders/:id", (req, res) => {
 *   req.log.info("Order looked up", { id: req.params.id });
 *   res.json({ id: req.params.id });
 * });
 * app.use(taffrailErrors());
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

/**
 * Creates an error handler that logs errors of routes and passes them on. Use it after the routes and before other
 * error handlers.
 * @example
 * import express from "express";
 * import { taffrail, taffrailErrors } from "taffrail/express";
 *
 * const app = express();
 * app.use(taffrail(logger));
 * app.get("/broken", () => {
 *   throw new Error("Payment gateway timed out");
 * });
 * app.use(taffrailErrors());
 */
export function taffrailErrors(): ErrorMiddleware {
  return (error, request, _response, next) => {
    exchanges.get(request)?.failed(error);
    next(error);
  };
}

function* headerPairs(raw: readonly string[]): Generator<[string, string]> {
  for (let i = 0; i + 1 < raw.length; i += 2) yield [(raw[i] ?? "").toLowerCase(), raw[i + 1] ?? ""];
}
