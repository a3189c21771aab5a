import type { ContextStore, Runtime } from "./runtime.ts";

/** A context store without task-local storage: the value lasts until the first `await` of `work`. */
export function synchronousContext<T>(): ContextStore<T> {
  let current: T | undefined;
  return {
    getStore: () => current,
    run(value, work) {
      const outer = current;
      current = value;
      try {
        return work();
      } finally {
        current = outer;
      }
    },
  };
}

export const streamGzip: Runtime["gzip"] =
  typeof CompressionStream === "undefined"
    ? null
    : async (body) => {
        // SAFETY: bodies are never backed by shared memory.
        const stream = new Blob([body as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("gzip"));
        return new Uint8Array(await new Response(stream).arrayBuffer());
      };

/** The common part of browsers and other platforms with web-standard interfaces. */
export const web: Omit<Runtime, "visible" | "answers"> = {
  createContext: synchronousContext,
  gzip: streamGzip,
  isPretty: () => true,
  settings: () => ({}),
  onIdle: () => () => {},
};
