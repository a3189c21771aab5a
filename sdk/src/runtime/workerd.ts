import type { ContextStore, Runtime } from "./runtime.ts";
import { streamGzip, synchronousContext } from "./shared.ts";

interface AsyncHooks {
  AsyncLocalStorage?: new <T>() => ContextStore<T>;
}

interface Platform extends AsyncHooks {
  process?: { getBuiltinModule?(name: "node:async_hooks"): AsyncHooks | undefined };
}

/**
 * Edge runtimes have the class as a global. Workers give it by `process`; without the compatibility flag an import would
 * keep the worker from starting.
 */
function asyncContext<T>(): ContextStore<T> {
  // SAFETY: both are optional, and have these types where a runtime has them.
  const platform = globalThis as Platform;
  const hooks = platform.AsyncLocalStorage ? platform : platform.process?.getBuiltinModule?.("node:async_hooks");
  return hooks?.AsyncLocalStorage ? new hooks.AsyncLocalStorage<T>() : synchronousContext();
}

/** Workers and edge runtimes. Timers and requests end with the request they belong to: flush in `waitUntil`. */
export const runtime: Runtime = {
  createContext: asyncContext,
  gzip: streamGzip,
  isPretty: () => false,
  onIdle: () => () => {},
};
