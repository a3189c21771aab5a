/**
 * Environment of a server (`startServer({env})`, `npm start`) or of the process that calls `serve`, under which the
 * runtime limits each isolate to this much V8 heap, in MiB. Cloudflare ends an isolate at 128 MB. The local runtime has
 * no limit of its own, and an isolate that reaches this one ends the whole process. ArrayBuffers are outside the heap,
 * so the process's resident memory must be measured as well.
 */
export function heapLimit(mebibytes: number): Record<"MINIFLARE_WORKERD_V8_FLAGS", string> {
  // The simulator passes this variable to workerd's configuration (`v8Flags`), split at spaces.
  return { MINIFLARE_WORKERD_V8_FLAGS: `--max-heap-size=${mebibytes}` };
}

/** The limit of an isolate on Cloudflare. */
export const ISOLATE_HEAP_MIB = 128;
