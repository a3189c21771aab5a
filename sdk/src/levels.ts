import type { LogLevel } from "./types.ts";

/** By severity: the index is the severity. */
// SAFETY: it is their names.
export const LEVELS = "trace debug log info warn error fatal".split(" ") as readonly LogLevel[];

/** Levels of other loggers, which are methods here, and no types; categories may have these names, and then both work. */
export const ALIASES: Readonly<Record<string, LogLevel>> = { warning: "warn", notice: "info", critical: "fatal" };

/** Members of other loggers, which are asked for before they are used: they are no categories. */
export const FOREIGN: RegExp = /^(?:(?:is|has)[A-Z].*|[gs]etLevel|bindings|setBindings|levels|levelVal|serializers)$/;
