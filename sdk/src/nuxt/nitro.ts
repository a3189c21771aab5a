import type { IncomingMessage, ServerResponse } from "node:http";
import { tapNodeRequest, watchNodeResponse } from "../adapters/node-http.ts";
import { flushAll } from "../capture/drain.ts";
import { createCapture, type Exchange } from "../capture/exchange.ts";
import { createLogger } from "../index.ts";
import type { Logger } from "../types.ts";
import type { TaffrailNuxtOptions } from "./index.ts";

/** The members of an h3 event that the plugin uses. */
export interface NitroEvent {
  node: { req: IncomingMessage; res: ServerResponse };
  context: Record<string, unknown>;
}

/** The members of Nitro's application that the plugin uses. */
export interface NitroApp {
  hooks: {
    hook(name: "error", listener: (error: unknown, context: { event?: NitroEvent }) => void): unknown;
    hook(name: "afterResponse", listener: (event: NitroEvent) => void): unknown;
    hook(name: "close", listener: () => unknown): unknown;
  };
  h3App: { handler: (event: NitroEvent) => unknown };
}

/**
 * Creates a Nitro plugin that captures requests, for Nuxt and for Nitro without Nuxt. Entries logged by any logger
 * during a request carry its trace; `event.context.logger` carries it also later.
 * @param options options of a new logger, or an existing logger and what to capture
 * @throws TypeError for invalid options, when Nitro calls the plugin
 * @example
 * // server/plugins/taffrail.ts
 * import { createLogger } from "taffrail";
 * import { createNitroPlugin } from "taffrail/nuxt/nitro";
 *
 * const logger = createLogger({ service: "shop" });
 * export default createNitroPlugin({ logger, capture: { excludePaths: [/^\/_nuxt/] } });
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
      // A path without a route is a 404 response, not an error.
      else if (!isNotFound(error)) exchanges.get(event)?.failed(cause);
    });
    hooks.hook("afterResponse", (event) => {
      const { waitUntil } = event.context;
      if (typeof waitUntil !== "function") return;
      // On platforms without sockets the response emits no `close` event.
      exchanges.get(event)?.ended({ status: event.node.res.statusCode });
      waitUntil(flushAll(logger));
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

/** Returns the error that a handler threw. h3 wraps it, with that error or its cause as the cause of the wrapper. */
function causeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return error instanceof Error && cause instanceof Error && cause.message === error.message ? cause : error;
}

function isNotFound(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { statusCode, unhandled } = error as { statusCode?: unknown; unhandled?: unknown };
  return statusCode === 404 && !unhandled;
}
