import type { LogLevel } from "./types.ts";

/** By severity: the index is the severity. */
export const LEVELS: readonly LogLevel[] = ["trace", "debug", "log", "info", "warn", "error", "fatal"];
