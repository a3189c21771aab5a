import type { Logger, LogLevel } from "../types.ts";

/** A record of LogTape, as far as it is read here. */
export interface LogTapeRecord {
  readonly category: readonly string[];
  readonly level: "trace" | "debug" | "info" | "warning" | "error" | "fatal";
  /** Texts and values in turn. */
  readonly message: readonly unknown[];
  readonly properties: Record<string, unknown>;
}

export type LogTapeSink = ((record: LogTapeRecord) => void) & AsyncDisposable;

/**
 * A sink for LogTape: `configure({ sinks: { taffrail: logtapeSink(logger) }, ... })`. LogTape's category becomes
 * `data.logger`, joined by dots. `dispose()` of LogTape flushes. Give the logger the level `trace` to have all that
 * LogTape lets through.
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
