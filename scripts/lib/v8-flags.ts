/**
 * Settings under which the runtime gives each isolate at most this much V8 heap, in MiB, for the environment of a server
 * (`startServer({env})`, `npm start`) or of the process that calls `serve`. Cloudflare ends an isolate at 128 MB; the
 * local runtime has no limit of its own, and one that reaches this one ends with its whole process. ArrayBuffers are
 * outside the heap, so the process's resident memory has to be measured as well.
 */
export function heapLimit(mebibytes: number): Record<"MINIFLARE_WORKERD_V8_FLAGS", string> {
  // The simulator hands this variable to workerd's configuration (`v8Flags`), split at spaces.
  return { MINIFLARE_WORKERD_V8_FLAGS: `--max-heap-size=${mebibytes}` };
}

/** What Cloudflare gives an isolate. */
export const ISOLATE_HEAP_MIB = 128;
