import { Writable } from "node:stream";
import { createLogger } from "../index.ts";
import type { LoggerOptions } from "../logger-options.ts";
import type { LogEntry, Logger, LogLevel } from "../types.ts";

/** Pino's level numbers. A number between two levels counts as the lower one. */
const LEVELS: readonly (readonly [number, LogLevel])[] = [
  [60, "fatal"],
  [50, "error"],
  [40, "warn"],
  [30, "info"],
  [20, "debug"],
];

/** Which members of pino's lines are the message and the error. */
export interface PinoOptions {
  /**
   * Pino's option of the same name.
   * @default "msg"
   */
  messageKey?: string;
  /**
   * Pino's option of the same name.
   * @default "err"
   */
  errorKey?: string;
}

/** A destination to which pino writes its lines. */
export interface PinoDestination {
  /** Distinguishes a destination from options, for pino. */
  readonly writable: true;
  write(line: string): void;
}

/**
 * Creates a destination for pino. Pino filters by its own level first, so create the logger with the level `trace` to
 * keep everything that pino logs. Both redact.
 * @example
 * import { pino } from "pino";
 * import { createLogger } from "taffrail";
 * import { pinoDestination } from "taffrail/pino";
 *
 * const log = pino(pinoDestination(createLogger({ level: "trace" })));
 * log.info({ items: 3 }, "Cart restored");
 */
export function pinoDestination(logger: Logger, options: PinoOptions = {}): PinoDestination {
  return {
    writable: true,
    write: (line) => {
      const { level, message, data } = entryOf(line, options);
      log(logger, level, message, data);
    },
  };
}

/** Options of the transport, which structured cloning carries into pino's worker thread. */
export type PinoTransportOptions = LoggerOptions & PinoOptions;

/**
 * The transport for pino's worker thread. Its level is `trace` by default, and entries keep pino's timestamps.
 * @throws TypeError for invalid options
 * @example
 * import { pino } from "pino";
 *
 * const transport = pino.transport({ target: "taffrail/pino", options: { apiUrl, projectId, apiKey } });
 * const log = pino(transport);
 * log.info({ items: 3 }, "Cart restored");
 */
export default function pinoTransport({ messageKey, errorKey, ...rest }: PinoTransportOptions): Writable {
  const options = { ...(messageKey ? { messageKey } : {}), ...(errorKey ? { errorKey } : {}) };
  let time: string | undefined;
  const { beforeSend = (entry: LogEntry) => entry } = rest;
  const logger = createLogger({
    level: "trace",
    ...rest,
    beforeSend: (entry) => beforeSend(time === undefined ? entry : { ...entry, timestamp: time }),
  });
  let tail = "";

  function take(line: string): void {
    if (line.trim() === "") return;
    const { level, message, data, at } = entryOf(line, options);
    time = at;
    log(logger, level, message, data);
  }

  return new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      const lines = (tail + chunk.toString()).split("\n");
      tail = lines.pop() ?? "";
      for (const line of lines) take(line);
      done();
    },
    final(done) {
      take(tail);
      logger.close().then(() => done(), done);
    },
  });
}

function log(logger: Logger, level: LogLevel, message: string, data: Record<string, unknown>): void {
  const { traceId, spanId, session, ...fields } = data;
  const ids = Object.entries({ traceId, spanId, session }).filter(([, id]) => typeof id === "string");
  (ids.length > 0 ? logger.child(Object.fromEntries(ids)) : logger)[level](message, fields);
}

function entryOf(line: string, { messageKey = "msg", errorKey = "err" }: PinoOptions) {
  const fields = parsed(line);
  const { level, time, trace_id: traceId, span_id: spanId, v: _version, ...rest } = fields;
  const { [messageKey]: message, [errorKey]: error, ...data } = rest;
  return {
    level: levelOf(level),
    message: typeof message === "string" && message !== "" ? message : messageOf(error),
    at: timeOf(time),
    data: {
      ...(traceId === undefined ? {} : { traceId }),
      ...(spanId === undefined ? {} : { spanId }),
      ...data,
      ...(error === undefined ? {} : { error: errorOf(error) }),
    },
  };
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    // SAFETY: members of any object can be read by name; their types are unknown.
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // Another writer of the stream may write lines that are not JSON.
  }
  return { msg: line.trim() };
}

function levelOf(level: unknown): LogLevel {
  if (typeof level === "number") return LEVELS.find(([from]) => level >= from)?.[1] ?? "trace";
  // Pino's formatter of levels may write names.
  return LEVELS.find(([, name]) => name === level)?.[1] ?? (level === "trace" ? "trace" : "info");
}

function timeOf(time: unknown): string | undefined {
  if (typeof time !== "number" && typeof time !== "string") return undefined;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function messageOf(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : "(no message)";
}

/** Converts pino's form of an error, whose name is the member `type`. */
function errorOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !("type" in error)) return error;
  const { type, ...rest } = error;
  return { name: type, ...rest };
}
