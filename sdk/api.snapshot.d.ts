// dist/index.d.mts
import { BatchOptions, BuiltInCategories, Category, CategoryScope, CategoryType, ContextFields, DropReason, Explanation, FlushResult, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerOptions, LoggerStats, SamplingOptions, TaffrailCategories, Transport, TransportName } from "./types.mjs";
/**
 * Makes a logger.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
declare function createLogger(options: LoggerOptions): Logger;
export { type BatchOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ContextFields, type DropReason, type Explanation, type FlushResult, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, type SamplingOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

// dist/node/index.d.mts
import { BatchOptions, BuiltInCategories, Category, CategoryScope, CategoryType, ContextFields, DropReason, Explanation, FlushResult, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerOptions, LoggerStats, SamplingOptions, TaffrailCategories, Transport, TransportName } from "../types.mjs";
import { SpoolOptions } from "./spool.mjs";
type NodeLoggerOptions = LoggerOptions & {
  /** Flush on SIGTERM, SIGINT and uncaught errors, which are logged too, for `timeoutMs` (default 3,000) at most. */
  shutdown?: false | {
    timeoutMs?: number;
  };
  /** Keeps what could not be sent on disk and sends it at the next start. */
  spool?: false | SpoolOptions;
};
/**
 * `createLogger` for Node and Bun: nothing logged is lost when the process ends, by whatever of exit, signal, uncaught
 * error or having nothing left to do.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
declare function createLogger(options: NodeLoggerOptions): Logger;
export { type BatchOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ContextFields, type DropReason, type Explanation, type FlushResult, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, NodeLoggerOptions, type SamplingOptions, type SpoolOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

// dist/testing.d.mts
import { LogEntry, LogLevel } from "./types.mjs";
/** What an entry must be like; members left out match anything. */
interface EntryMatch {
  level?: LogLevel;
  category?: string;
  type?: string;
  /** The whole message, or a pattern in it. */
  message?: string | RegExp;
  /** Members of `data` that must be there with these values; others may be there too. */
  data?: Record<string, unknown>;
}
/** A transport that keeps entries for assertions. They are there as soon as the log call returns. */
interface MemoryTransport {
  readonly entries: readonly LogEntry[];
  write(json: string): void;
  clear(): void;
  find(match: EntryMatch): LogEntry[];
  /** @throws Error that lists what was logged, unless an entry matches (exactly `times`, if given); gives the first */
  assertLogged(match: EntryMatch, times?: number): LogEntry;
  /** @throws Error with the entry that matches */
  assertNotLogged(match: EntryMatch): void;
}
/** `createLogger({ transport: memoryTransport() })` in a test. */
declare function memoryTransport(): MemoryTransport;
export { EntryMatch, MemoryTransport, memoryTransport };

// dist/adapters/hono.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { Logger } from "../types.mjs";
import { Context, MiddlewareHandler } from "hono";
/** What the middleware puts into the context: `c.get("logger")`, whose entries carry the request's trace. */
interface TaffrailVariables {
  logger: Logger;
}
/**
 * Captures requests, responses and errors. Put it before everything else.
 *
 * On Workers each request flushes in `waitUntil` once its response has ended, so nothing is left to a timer.
 *
 * @param logger or a function that gives it, where its options are in `c.env`; it should give the same one each time
 * @throws TypeError for options that are wrong
 */
declare function taffrail(logger: Logger | ((c: Context) => Logger), options?: CaptureOptions): MiddlewareHandler<{
  Variables: TaffrailVariables;
}>;
export { type CaptureOptions, TaffrailVariables, taffrail };

// dist/adapters/express.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { Logger } from "../types.mjs";
import { IncomingMessage, ServerResponse } from "node:http";
/** A request of Express, Connect or plain Node. */
type CapturedRequest = IncomingMessage & {
  originalUrl?: string;
  /** Entries logged with it carry the request's trace. */
  log?: Logger;
};
type Middleware = (request: CapturedRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
type ErrorMiddleware = (error: unknown, request: CapturedRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
/**
 * Captures requests and responses, for Express 4 and 5, Connect and plain Node servers. Put it before everything else,
 * body parsers included, and `taffrailErrors()` after the routes. `req.log` carries the request's trace.
 * @throws TypeError for options that are wrong
 */
declare function taffrail(logger: Logger, options?: CaptureOptions): Middleware;
/** Captures what routes throw, and passes it on. Put it after the routes and before handlers of errors. */
declare function taffrailErrors(): ErrorMiddleware;
export { type CaptureOptions, CapturedRequest, taffrail, taffrailErrors };

// dist/types.d.mts
/** Levels by severity: `trace` 0 to `fatal` 6. */
type LogLevel = "trace" | "debug" | "log" | "info" | "warn" | "error" | "fatal";
/**
 * The user's own categories and their types, added by declaration merging:
 * `declare module "taffrail" { interface TaffrailCategories { billing: "invoice" | "refund" } }`
 */
interface TaffrailCategories {}
/** The categories the service knows, with their types. The first type is the default. */
interface BuiltInCategories {
  ai: "llm" | "interaction" | "step" | "action" | "response" | "summary" | "embedding" | "tool-call";
  http: "request" | "response" | "redirect";
  system: "startup" | "shutdown" | "error" | "debug" | "info" | "warn";
  database: "query" | "transaction" | "migration" | "slow-query" | "connection";
  auth: "login" | "logout" | "token-refresh" | "permission-denied" | "registration";
  queue: "enqueue" | "dequeue" | "process" | "retry" | "dead-letter";
  cache: "hit" | "miss" | "set" | "evict" | "invalidate";
  custom: string;
}
type Categories = BuiltInCategories & TaffrailCategories;
type Category = keyof Categories & string;
type CategoryType<C extends Category> = Categories[C] & string;
/** `tool-call` as a member name of `logger.ai`: `toolCall`. Types of the user's own keep their names. */
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;
/** Fields of one entry. An `Error` becomes `{error}`. Redacted and copied at the call; no reference is kept. */
type LogData = object;
/** Logs one entry. Returns at once and never throws. */
type LogMethod = (message: string | Error, data?: LogData) => void;
/** One method per type of a category. Types named like a level log at that level, all others at `info`. */
type CategoryScope<C extends Category> = string extends CategoryType<C> ? {
  readonly [type: string]: LogMethod;
} : { readonly [T in CategoryType<C> as C extends keyof BuiltInCategories ? CamelCase<T> : T]: LogMethod; };
/** An entry as it is sent. */
interface LogEntry {
  /** ISO 8601 UTC with milliseconds. */
  timestamp: string;
  level: LogLevel;
  category: string;
  type: string;
  message: string;
  session?: string;
  traceId?: string;
  spanId?: string;
  data?: Record<string, unknown>;
}
/**
 * Where entries go besides the service. `send` gets entries from a queue, in order, one call at a time; a rejection
 * is retried like a failed request. `write` is called at once with each entry's JSON.
 */
type Transport = {
  send(entries: LogEntry[]): void | Promise<void>;
  flush?(): void | Promise<void>;
  close?(): void | Promise<void>;
} | {
  write(json: string, level: LogLevel): void;
  flush?(): void | Promise<void>;
  close?(): void | Promise<void>;
};
/** `batch`: many entries a request. `http`: one each. `console`: standard output. `memory`: `logger.entries`. */
type TransportName = "batch" | "console" | "http" | "memory";
/**
 * Why entries were dropped: the queue was full, retries ran out, the service refused the entry or the request, an
 * entry alone was too large, the logger was closed, or `beforeSend` threw.
 */
type DropReason = "queue-full" | "retries" | "rejected" | "too-large" | "closed" | "before-send";
interface BatchOptions {
  /** Entries that start a request; more than that may travel in one. 1 to 1,000, default 50. */
  size?: number;
  /** Milliseconds an entry waits at most before a request starts, default 5,000. */
  flushInterval?: number;
  /** Further tries of a request that failed, default 3. A pause the service asks for (429) is none. */
  maxRetries?: number;
  /** How waits grow, default `exponential`. A function gets the retry's number from 1 and gives milliseconds. */
  backoff?: "exponential" | "linear" | "fixed" | ((retry: number) => number);
  /** Milliseconds of the first wait, default 1,000. Each wait is lengthened by a random part of itself. */
  backoffBase?: number;
  /** Bytes of entries that may wait, default 5 MiB. Past that the lowest levels are dropped first. */
  maxQueueBytes?: number;
  /** Requests at the same time, 1 to 16, default 4. */
  concurrency?: number;
  /** Milliseconds until a request without an answer has failed, default 10,000. */
  timeout?: number;
  /** Whether bodies of 1 KiB and more are compressed, default true. */
  gzip?: boolean;
}
interface SamplingOptions {
  /** Part of the entries to keep, 0 to 1, default 1. */
  rate?: number;
  /** Rates of single levels. */
  overrides?: Partial<Record<LogLevel, number>>;
}
interface CommonOptions {
  /** An API key with the scope `logs:write`. */
  apiKey?: string;
  /** The lowest level that is logged, default `info`. */
  level?: LogLevel;
  /** Categories that are logged, default all. */
  categories?: readonly Category[] | null;
  /** Categories that are not logged. */
  excludeCategories?: readonly Category[] | null;
  sampling?: SamplingOptions;
  /** Fields of every entry. `session`, `traceId`, `spanId` and `traceparent` go to the entry's own members. */
  defaultMeta?: object;
  /** Default: made once per logger. */
  sessionId?: string;
  /**
   * Sees each entry, redacted, before it is queued. What it returns is sent, redacted once more; `null` drops it.
   * One that throws drops the entry too, because it may be what keeps private data back.
   */
  beforeSend?: (entry: LogEntry) => LogEntry | null;
  onError?: (error: Error) => void;
  onDrop?: (entries: LogEntry[], reason: DropReason) => void;
  /** Writes what the library does to the console, default false. */
  debug?: boolean;
  batch?: BatchOptions;
  /** Further member names whose values are masked, in any spelling. */
  redact?: readonly string[];
}
/** Options of `createLogger`. The service's transports need `apiUrl` and `projectId`. */
type LoggerOptions = CommonOptions & ({
  apiUrl: string;
  projectId: string;
  transport?: TransportName | Transport | readonly (TransportName | Transport)[];
} | {
  apiUrl?: string;
  projectId?: string;
  transport: "console" | "memory" | Transport | readonly ("console" | "memory" | Transport)[];
});
/** Fields of a child or a context. The named ones go to the entry's own members, the rest to `data`. */
interface ContextFields {
  session?: string;
  traceId?: string;
  spanId?: string;
  /** A W3C `traceparent` header: gives `traceId` and `spanId`. One that is malformed is ignored. */
  traceparent?: string | null;
  [name: string]: unknown;
}
interface FlushResult {
  /** Entries the transports took since the call. */
  delivered: number;
  /** Entries given up since the call. */
  dropped: number;
  /** Entries that still wait. */
  pending: number;
}
interface LoggerStats {
  /** Entries handed to the transports, counted once for each. */
  logged: number;
  sampledOut: number;
  /** By `beforeSend`. */
  filtered: number;
  delivered: number;
  dropped: number;
  pending: number;
  pendingBytes: number;
  requests: number;
  retries: number;
}
/** Where the pipeline would end for an entry, and why. */
interface Explanation {
  sent: boolean;
  step: "level" | "category" | "sampling" | "beforeSend" | "transport";
  reason: string;
}
type Scopes = { readonly [C in Exclude<Category, keyof LoggerMethods>]: CategoryScope<C>; };
interface LoggerMethods {
  trace: LogMethod;
  debug: LogMethod;
  log: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  fatal: LogMethod;
  /** A logger whose entries have this category and type. */
  category<C extends Category>(category: C, type?: CategoryType<C>): Logger;
  /** A logger whose entries have these fields too. Nothing of it is kept by its parent. */
  child(fields: ContextFields): Logger;
  /** Runs `work`; every entry logged in it, by any logger, has these fields too, across `await` where the runtime can. */
  withContext<T>(fields: ContextFields, work: () => T): T;
  /** Sends what waits. Always settles, after `timeoutMs` (default 10,000) at the latest; never rejects. */
  flush(options?: {
    timeoutMs?: number;
  }): Promise<FlushResult>;
  /** Flushes, then drops what is logged later. */
  close(options?: {
    timeoutMs?: number;
  }): Promise<FlushResult>;
  stats(): LoggerStats;
  /** What would become of an entry. `beforeSend` is asked if the entry gets that far. */
  explain(level: LogLevel, message?: string, data?: LogData): Explanation;
  /** What the transport `memory` holds, at most the newest 1,000; empty without it. */
  readonly entries: readonly LogEntry[];
  /** The entry's session. */
  readonly sessionId: string;
  [Symbol.asyncDispose](): Promise<void>;
}
type Logger = LoggerMethods & Scopes;
export { BatchOptions, BuiltInCategories, Category, CategoryScope, CategoryType, ContextFields, DropReason, Explanation, FlushResult, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerOptions, LoggerStats, SamplingOptions, TaffrailCategories, Transport, TransportName };

// dist/node/spool.d.mts
interface SpoolOptions {
  /** Default: a directory of this user's in the system's temporary one, per service and project. */
  dir?: string;
  /** Bytes the directory may hold, default 64 MiB. What does not fit is dropped. */
  maxBytes?: number;
}
export { SpoolOptions };

// dist/capture/options.d.mts
/** What a server adapter captures of each request. The same for all of them. */
interface CaptureOptions {
  /** An entry `http/request` when a request begins, default true. */
  requests?: boolean;
  /** An entry `http/response` when a response has ended, default true. */
  responses?: boolean;
  /** An entry `system/error` for what a handler throws, default true. */
  errors?: boolean;
  /** Paths without entries, whole or as patterns. Default `/health`, `/ready`, `/favicon.ico`. */
  excludePaths?: readonly (string | RegExp)[];
  /** Methods without entries, default `OPTIONS`. */
  excludeMethods?: readonly string[];
  /** Request headers in the request's entry, default true. */
  headers?: boolean;
  /** Headers whose values are masked, besides `authorization`, `cookie` and `x-api-key`. */
  redactHeaders?: readonly string[];
  /** Members of bodies and query parameters that are masked, besides `password`, `token` and `secret`. */
  redactFields?: readonly string[];
  /** Query parameters in the request's entry, default true. */
  query?: boolean;
  /** Bodies of requests and responses that are text (JSON, forms, `text/*`), default false. */
  body?: boolean;
  /** Bytes of a body that are kept, 0 to 131,072, default 32,768. */
  maxBodySize?: number;
  /** Response header with the milliseconds until the response began, default `X-Response-Time`; `false` for none. */
  timingHeader?: string | false;
}
export { CaptureOptions };
