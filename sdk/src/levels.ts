import type { LogLevel } from "./types.ts";

/** The levels; the index is the severity. */
// SAFETY: the text has the names of the levels.
export const LEVELS = "trace debug log info warn error fatal".split(" ") as readonly LogLevel[];

/** Level names of other loggers, which are methods here. A category of such a name works as well. */
export const ALIASES: Readonly<Record<string, LogLevel>> = { warning: "warn", notice: "info", critical: "fatal" };

/** Members of other loggers for which frameworks check. They are not categories. */
export const FOREIGN: RegExp = /^(?:(?:is|has)[A-Z].*|[gs]etLevel|bindings|setBindings|levels|levelVal|serializers)$/;
