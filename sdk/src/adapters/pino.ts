import { Writable } from "node:stream";
import { createLogger } from "../index.ts";
import type { LogEntry, Logger, LoggerOptions, LogLevel } from "../types.ts";

/** Pino's levels by number; one between two counts as the lower. */
const LEVELS: readonly (readonly [number, LogLevel])[] = [
  [60, "fatal"],
  [50, "error"],
  [40, "warn"],
  [30, "info"],
  [20, "debug"],
];

/** Which members of pino's lines are the message and the error. */
export interface PinoOptions {
  /** As pino's own option, default `msg`. */
  messageKey?: string;
  /** As pino's own option, default `err`. */
  errorKey?: string;
}

/** Where pino writes its lines. */
export interface PinoDestination {
  /** By this pino tells a destination from options. */
  readonly writable: true;
  write(line: string): void;
}

/**
 * A destination for pino: `pino(pinoDestination(logger))`. Pino decides by its own level first; give the logger the
 * level `trace` to have all of that. Redaction happens in both.
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
 * A transport for pino's worker thread:
 * `pino.transport({ target: "taffrail/pino", options: { apiUrl, apiKey, projectId } })`. Its level is `trace` unless
 * the options say otherwise, and entries keep the times pino gave them.
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
    // SAFETY: any object may be read by name; its members are unknown.
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // A stream that was not written by pino alone.
  }
  return { msg: line.trim() };
}

function levelOf(level: unknown): LogLevel {
  if (typeof level === "number") return LEVELS.find(([from]) => level >= from)?.[1] ?? "trace";
  // With a formatter pino writes names.
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

/** Pino calls an error's name its type. */
function errorOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !("type" in error)) return error;
  const { type, ...rest } = error;
  return { name: type, ...rest };
}
