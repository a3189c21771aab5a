import { visible } from "../terminal.ts";
import { outcomeOf } from "../transports/answers.ts";
import { settingsOf, type Variables } from "./environment.ts";
import type { ContextStore, Runtime } from "./runtime.ts";
import { streamGzip, synchronousContext } from "./shared.ts";

interface AsyncHooks {
  AsyncLocalStorage?: new <T>() => ContextStore<T>;
}

interface Platform extends AsyncHooks {
  process?: { getBuiltinModule?(name: "node:async_hooks"): AsyncHooks | undefined; env?: Variables };
}

function platform(): Platform {
  // SAFETY: all of it is optional, and has these types where a runtime has it.
  return globalThis as Platform;
}

/**
 * Edge runtimes have the class as a global. Workers give it by `process`; without the compatibility flag an import would
 * keep the worker from starting.
 */
function asyncContext<T>(): ContextStore<T> {
  const { AsyncLocalStorage, process } = platform();
  const hooks = AsyncLocalStorage ? { AsyncLocalStorage } : process?.getBuiltinModule?.("node:async_hooks");
  return hooks?.AsyncLocalStorage ? new hooks.AsyncLocalStorage<T>() : synchronousContext();
}

/** Workers and edge runtimes. Timers and requests end with the request they belong to: flush in `waitUntil`. */
export const runtime: Runtime = {
  createContext: asyncContext,
  gzip: streamGzip,
  isPretty: () => false,
  visible,
  answers: async () => ({ outcomeOf }),
  settings: () => settingsOf(platform().process?.env ?? {}),
  onIdle: () => () => {},
};
