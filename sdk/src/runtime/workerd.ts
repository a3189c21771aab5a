import { visible } from "../terminal.ts";
import { outcomeOf } from "../transports/answers.ts";
import { createStream } from "../transports/stream.ts";
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
  // SAFETY: all members are optional and have these types in every runtime that has them.
  return globalThis as Platform;
}

/**
 * Creates a context store with `AsyncLocalStorage`, if the platform has it: edge runtimes as a global, Workers by
 * `process`. An import would prevent a Worker without the compatibility flag from starting.
 */
function asyncContext<T>(): ContextStore<T> {
  const { AsyncLocalStorage, process } = platform();
  const hooks = AsyncLocalStorage ? { AsyncLocalStorage } : process?.getBuiltinModule?.("node:async_hooks");
  return hooks?.AsyncLocalStorage ? new hooks.AsyncLocalStorage<T>() : synchronousContext();
}

/** The runtime of Workers. Timers and requests end with the request that created them: flush in `waitUntil`. */
export const runtime: Runtime = {
  createContext: asyncContext,
  gzip: streamGzip,
  isPretty: () => false,
  visible,
  answers: async () => ({ outcomeOf }),
  createStream,
  settings: () => settingsOf(platform().process?.env ?? {}),
  onIdle: () => () => {},
};
