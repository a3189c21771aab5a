import type { ContextStore, Runtime } from "./runtime.ts";

/** Where no task-local storage exists: holds for what `work` does before its first `await`. */
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

/** What browsers and other platforms with the web's own interfaces have in common. */
export const web: Omit<Runtime, "visible" | "answers"> = {
  createContext: synchronousContext,
  gzip: streamGzip,
  isPretty: () => true,
  settings: () => ({}),
  onIdle: () => () => {},
};
