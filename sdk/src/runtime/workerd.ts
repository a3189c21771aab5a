import type { ContextStore, Runtime } from "./runtime.ts";
import { streamGzip, synchronousContext } from "./shared.ts";

/** Asked of `process` rather than imported: without the compatibility flag an import would keep the worker from starting. */
function asyncContext<T>(): ContextStore<T> {
  const process = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process;
  const hooks = process?.getBuiltinModule?.("node:async_hooks");
  if (!hooks) return synchronousContext();
  // SAFETY: the module is what the runtime documents under this name.
  return new (hooks as { AsyncLocalStorage: new () => ContextStore<T> }).AsyncLocalStorage();
}

/** Cloudflare Workers. Timers and requests end with the request they belong to: flush in `ctx.waitUntil`. */
export const runtime: Runtime = {
  createContext: asyncContext,
  gzip: streamGzip,
  isPretty: () => false,
  onIdle: () => () => {},
};
