import { drained } from "../capture/drain.ts";
import { type Capture, createCapture } from "../capture/exchange.ts";
import type { CaptureOptions } from "../capture/options.ts";
import { captureFetch, incomingOf } from "../capture/web.ts";
import type { Logger } from "../types.ts";

export type { CaptureOptions } from "../capture/options.ts";

interface Context {
  waitUntil(promise: Promise<unknown>): void;
}

/** The handlers of a Worker; those that are there are wrapped. */
export interface WorkerHandlers<Env> {
  // biome-ignore lint/suspicious/noExplicitAny: the platform's own types of its arguments differ from handler to handler.
  [name: string]: ((input: any, env: Env, context: any) => unknown) | undefined;
}

/**
 * Wraps a Worker: `export default withTaffrail((env) => createLogger({...}), { fetch(request, env, ctx) {...} })`.
 * `fetch` is captured; what `scheduled`, `queue` and the others throw is logged and goes on. Each call flushes in
 * `waitUntil`, so nothing is left to a timer.
 *
 * @param makeLogger called once for each `env`, at its first request
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
      context.waitUntil(ended.then(() => drained(logger)));
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
        context.waitUntil(drained(logger));
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
