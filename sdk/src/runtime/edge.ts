import type { Runtime } from "./runtime.ts";
import { runtime as workerd } from "./workerd.ts";

/**
 * The runtime of edge platforms. Like Workers without compression, because Next's `CompressionStream` throws when used.
 */
export const runtime: Runtime = { ...workerd, gzip: null };
