import { flushAll } from "../capture/drain.ts";
import { type Capture, createCapture } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import { captureFetch, incomingOf } from "../capture/web.ts";
import type { Logger } from "../types.ts";

export type { CaptureOptions } from "../capture/options.ts";

interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** The handlers of a Worker by name, like `fetch` and `scheduled`. */
export interface WorkerHandlers<Env> {
  // biome-ignore lint/suspicious/noExplicitAny: the argument types of the platform differ from handler to handler.
  [name: string]: ((input: any, env: Env, context: any) => unknown) | undefined;
}

/**
 * Wraps the handlers of a Worker: captures `fetch`, and logs and rethrows errors of `scheduled`, `queue` and the
 * others. Each call flushes in `waitUntil`, because Workers end timers with their request.
 *
 * @param makeLogger called once for each `env`, at its first request
 * @throws TypeError for invalid options, at the first request
 * @example
 * import { createLogger } from "taffrail";
 * import { withTaffrail } from "taffrail/workers";
 *
 * interface Env {
 *   TAFFRAIL_API_KEY: string;
 * }
 *
 * export default withTaffrail(
 *   (env: Env) =>
 *     createLogger({ apiUrl: "https://logs.example.com", projectId: "proj_...", apiKey: env.TAFFRAIL_API_KEY }),
 *   {
 *     fetch: async (request: Request) => new Response(`Hello from ${new URL(request.url).pathname}`),
 *   },
 * );
 */
export function withTaffrail<Env extends object, Handlers extends WorkerHandlers<Env>>(
  makeLogger: (env: Env) => Logger,
  handlers: Handlers,
  options: CaptureOptions = {},
): Handlers {
  const known = new WeakMap<Env, { logger: Logger; capture: Capture }>();
  const partsOf = (env: Env): { logger: Logger; capture: Capture } => {
    let parts = known.get(env);
    if (!parts) {
      const logger = makeLogger(env);
      parts = { logger, capture: createCapture(logger, options) };
      known.set(env, parts);
    }
    return parts;
  };

  function fetching(handler: NonNullable<WorkerHandlers<Env>[string]>) {
    return (request: Request, env: Env, context: Context): Promise<Response> => {
      const { logger, capture } = partsOf(env);
      let whenEnded = (): void => {};
      const ended = new Promise<void>((resolve) => {
        whenEnded = resolve;
      });
      context.waitUntil(ended.then(() => flushAll(logger)));
      // SAFETY: the handler `fetch` of a Worker gives a response.
      const answer = () => handler.call(handlers, request, env, context) as Response | Promise<Response>;
      return captureFetch(capture(incomingOf(request)), request, answer, whenEnded);
    };
  }

  function working(name: string, handler: NonNullable<WorkerHandlers<Env>[string]>) {
    return async (input: unknown, env: Env, context: Context): Promise<unknown> => {
      const { logger } = partsOf(env);
      try {
        return await handler.call(handlers, input, env, context);
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        logger.category("system", "error").error(`${name} failed: ${text}`, { handler: name, error });
        throw error;
      } finally {
        context.waitUntil(flushAll(logger));
      }
    };
  }

  const wrapped = Object.entries(handlers).map(([name, handler]) => [
    name,
    typeof handler !== "function" ? handler : name === "fetch" ? fetching(handler) : working(name, handler),
  ]);
  // SAFETY: each handler is replaced by one that takes and gives the same.
  return { ...handlers, ...Object.fromEntries(wrapped) } as Handlers;
}
