import type { LogLevel } from "./types.ts";

/** By severity: the index is the severity. */
// SAFETY: it is their names.
export const LEVELS = "trace debug log info warn error fatal".split(" ") as readonly LogLevel[];
