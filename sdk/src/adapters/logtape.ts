import type { Logger, LogLevel } from "../types.ts";

/** The members of a LogTape record that the sink reads. */
export interface LogTapeRecord {
  readonly category: readonly string[];
  readonly level: "trace" | "debug" | "info" | "warning" | "error" | "fatal";
  /** Texts and values, alternately. */
  readonly message: readonly unknown[];
  readonly properties: Record<string, unknown>;
}

/** A sink for LogTape, whose disposal flushes. */
export type LogTapeSink = ((record: LogTapeRecord) => void) & AsyncDisposable;

/**
 * Creates a sink for LogTape. LogTape's category becomes `data.logger`, joined by dots. LogTape's `dispose()` flushes.
 * Create the logger with the level `trace` to keep everything that LogTape logs.
 * @example
 * import { configure, getLogger } from "@logtape/logtape";
 * import { createLogger } from "taffrail";
 * import { logtapeSink } from "taffrail/logtape";
 *
 * await configure({
 *   sinks: { taffrail: logtapeSink(createLogger({ level: "trace" })) },
 *   loggers: [{ category: "shop", sinks: ["taffrail"], lowestLevel: "trace" }],
 * });
 * getLogger("shop").info("Cart restored", { items: 3 });
 */
export function logtapeSink(logger: Logger): LogTapeSink {
  return Object.assign(
    ({ category, level, message, properties }: LogTapeRecord) => {
      const { traceId, spanId, session, ...fields } = properties;
      const ids = Object.entries({ traceId, spanId, session }).filter(([, id]) => typeof id === "string");
      const own = ids.length > 0 ? logger.child(Object.fromEntries(ids)) : logger;
      const name: LogLevel = level === "warning" ? "warn" : level;
      own[name](message.map(shown).join("") || "(no message)", {
        ...(category.length > 0 ? { logger: category.join(".") } : {}),
        ...fields,
      });
    },
    {
      async [Symbol.asyncDispose]() {
        await logger.flush();
      },
    },
  );
}

function shown(part: unknown): string {
  if (typeof part === "string") return part;
  try {
    if (part instanceof Error) return part.message;
    return (typeof part === "object" ? JSON.stringify(part) : undefined) ?? String(part);
  } catch {
    return "[Object]";
  }
}
