import type { IncomingMessage, ServerResponse } from "node:http";
import { tapNodeRequest, watchNodeResponse } from "../adapters/node-http.ts";
import { drained } from "../capture/drain.ts";
import { createCapture, type Exchange } from "../capture/exchange.ts";
import { createLogger } from "../index.ts";
import type { Logger } from "../types.ts";
import type { TaffrailNuxtOptions } from "./index.ts";

/** An event of h3, as far as it is used here. */
export interface NitroEvent {
  node: { req: IncomingMessage; res: ServerResponse };
  context: Record<string, unknown>;
}

/** What a plugin gets of Nitro. */
export interface NitroApp {
  hooks: {
    hook(name: "error", listener: (error: unknown, context: { event?: NitroEvent }) => void): unknown;
    hook(name: "afterResponse", listener: (event: NitroEvent) => void): unknown;
    hook(name: "close", listener: () => unknown): unknown;
  };
  h3App: { handler: (event: NitroEvent) => unknown };
}

/**
 * A plugin of Nitro that captures requests, for Nuxt and for Nitro alone. `event.context.logger` carries the
 * request's trace, and so does what any logger logs while it is handled.
 * @param options or a logger of one's own with what to capture
 */
export function createNitroPlugin(
  options: TaffrailNuxtOptions | { logger: Logger; capture?: TaffrailNuxtOptions["capture"] },
): (nitroApp: NitroApp) => void {
  return ({ hooks, h3App }) => {
    const logger = "logger" in options ? options.logger : makeLogger(options);
    const capture = createCapture(logger, options.capture);
    const exchanges = new WeakMap<NitroEvent, Exchange>();
    const { handler } = h3App;
    h3App.handler = (event) => {
      const { req, res } = event.node;
      const exchange = capture({
        method: req.method ?? "GET",
        url: req.url ?? "/",
        header: (name) => [req.headers[name]].flat().join(", ") || undefined,
        headers: () => Object.entries(req.headers).map(([name, value]) => [name, [value].flat().join(", ")] as const),
      });
      exchanges.set(event, exchange);
      event.context.logger = exchange.logger;
      tapNodeRequest(exchange, req);
      watchNodeResponse(exchange, res);
      return exchange.run(() => handler(event));
    };
    hooks.hook("error", (error, { event }) => {
      const cause = causeOf(error);
      if (!event) logger.category("system", "error").error(cause instanceof Error ? cause : String(cause));
      // A path that no route has is a response, and no error.
      else if (!isNotFound(error)) exchanges.get(event)?.failed(cause);
    });
    hooks.hook("afterResponse", (event) => {
      const { waitUntil } = event.context;
      if (typeof waitUntil !== "function") return;
      // On platforms without sockets the response has no end of its own to listen for.
      exchanges.get(event)?.ended({ status: event.node.res.statusCode });
      waitUntil(drained(logger));
    });
    hooks.hook("close", () => logger.close());
  };
}

function makeLogger({ apiUrl = "", projectId = "", apiKey, level, defaultMeta }: TaffrailNuxtOptions): Logger {
  return createLogger({
    apiUrl,
    projectId,
    ...(apiKey ? { apiKey } : {}),
    ...(level ? { level } : {}),
    ...(defaultMeta ? { defaultMeta } : {}),
  });
}

/** h3 wraps what a handler throws; its wrapper's cause is that, or the cause of that. */
function causeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return error instanceof Error && cause instanceof Error && cause.message === error.message ? cause : error;
}

function isNotFound(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { statusCode, unhandled } = error as { statusCode?: unknown; unhandled?: unknown };
  return statusCode === 404 && !unhandled;
}
