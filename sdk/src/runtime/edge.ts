import type { Runtime } from "./runtime.ts";
import { runtime as workerd } from "./workerd.ts";

/** Edge runtimes: as Workers, but Next's has a `CompressionStream` that is there and throws when it is used. */
export const runtime: Runtime = { ...workerd, gzip: null };
