import type { Category, LevelSetting, LogEntry, LogLevel } from "./types.ts";

/** Options of loggers: transports, batches, sampling, children. */

/**
 * A custom destination of entries.
 *
 * `send` receives entries from a queue, in order, one call at a time; if its promise rejects, the call is retried like
 * a failed request. `write` is called synchronously with the JSON of each entry.
 */
export type Transport =
  | { send(entries: LogEntry[]): void | Promise<void>; flush?(): void | Promise<void>; close?(): void | Promise<void> }
  | { write(json: string, level: LogLevel): void; flush?(): void | Promise<void>; close?(): void | Promise<void> };

/**
 * A built-in transport. `batch`: many entries per request. `http`: one entry per request. `console`: standard output.
 * `memory`: `logger.entries`.
 */
export type TransportName = "batch" | "console" | "http" | "memory";

/**
 * Why entries were dropped: the queue was full, all retries failed, the service rejected the entry or the request, a
 * single entry was too large, the logger was closed, or `beforeSend` threw.
 */
export type DropReason = "queue-full" | "retries" | "rejected" | "too-large" | "closed" | "before-send";

/** How entries are batched, retried and delivered. */
export interface BatchOptions {
  /**
   * Number of queued entries that starts a request, 1 to 1,000. A request may carry more.
   * @default 50
   */
  size?: number;
  /**
   * Milliseconds after which the oldest queued entry starts a request, 0 to 3,600,000.
   * @default 5000
   */
  flushInterval?: number;
  /**
   * Number of retries of a failed request, 0 to 100. A pause that the service asks for (429) does not count.
   * @default 3
   */
  maxRetries?: number;
  /**
   * How the delay between retries grows. A function gets the number of the retry, from 1, and returns milliseconds.
   * @default "exponential"
   */
  backoff?: "exponential" | "linear" | "fixed" | ((retry: number) => number);
  /**
   * Delay before the first retry in milliseconds, 0 to 3,600,000. A random part of up to 100 % is added to each delay.
   * @default 1000
   */
  backoffBase?: number;
  /**
   * Bytes of entries in the queue, 1,024 to 1 GiB. If the queue is full, entries of the lowest level are dropped first.
   * @default 5242880
   */
  maxQueueBytes?: number;
  /**
   * Number of concurrent requests, 1 to 16.
   * @default 4
   */
  concurrency?: number;
  /**
   * Milliseconds after which a request without a response has failed, 1 to 3,600,000.
   * @default 10000
   */
  timeout?: number;
  /**
   * Whether bodies of 1 KiB and more are compressed.
   * @default true
   */
  gzip?: boolean;
}

/**
 * Which share of the entries is sent.
 *
 * The decision is a hash of the trace id, or without one of the session that the application set (`sessionId`, or a
 * field `session`), so that a trace or session is kept or left out as a whole. Without either, each entry is decided at
 * random: the automatic session lasts as long as its logger, so a process would keep all entries or none. In browsers
 * the session of the tab decides.
 */
export interface SamplingOptions {
  /**
   * Share of the entries to send, 0 to 1.
   * @default 1
   */
  rate?: number;
  /**
   * Rates of single levels, 0 to 1, in place of `rate`.
   * @default {}
   */
  overrides?: Partial<Record<LogLevel, number>>;
}

/** Options of every logger. */
interface CommonOptions {
  /**
   * An API key with the scope `logs:write`.
   * @default process.env.TAFFRAIL_API_KEY, on Node, Bun and Workers
   */
  apiKey?: string | undefined;
  /**
   * The lowest level that is logged; `logger.level` changes it later.
   * @default "info"
   */
  level?: LevelSetting;
  /**
   * Name of the application, `service` in the `data` of every entry. A field of the same name in `defaultMeta`, a child
   * logger, a context or the call replaces it.
   * @default process.env.TAFFRAIL_SERVICE, else OTEL_SERVICE_NAME, else `service.name` of OTEL_RESOURCE_ATTRIBUTES
   */
  service?: string | undefined;
  /**
   * Version of the application, `version` in `data`.
   * @default process.env.TAFFRAIL_VERSION, else `service.version` of OTEL_RESOURCE_ATTRIBUTES
   */
  version?: string | undefined;
  /**
   * Environment of the application, like `production`: `environment` in `data`.
   * @default process.env.TAFFRAIL_ENVIRONMENT, else `deployment.environment.name` of OTEL_RESOURCE_ATTRIBUTES
   */
  environment?: string | undefined;
  /**
   * Machine or instance, `host` in `data`.
   * @default process.env.TAFFRAIL_HOST, else `host.name` of OTEL_RESOURCE_ATTRIBUTES
   */
  host?: string | undefined;
  /**
   * Categories that are logged; `null` for all.
   * @default null
   */
  categories?: readonly Category[] | null;
  /**
   * Categories that are not logged; `null` for none.
   * @default null
   */
  excludeCategories?: readonly Category[] | null;
  /**
   * Which share of the entries is sent.
   * @default { rate: 1 }
   */
  sampling?: SamplingOptions;
  /**
   * Fields of every entry. `session`, `traceId`, `spanId` and `traceparent` become members of the entry itself.
   * @default {}
   */
  defaultMeta?: object;
  /**
   * Session of the entries.
   * @default a random UUID per logger
   */
  sessionId?: string;
  /**
   * Called with each redacted entry before it is queued. Returns the entry to send, which is redacted again, or `null`
   * to leave it out. If it throws, the entry is dropped, because the hook may be what removes private data.
   * @default none
   */
  beforeSend?: (entry: LogEntry) => LogEntry | null;
  /**
   * Called with each delivery error, also if a retry succeeds later. Errors that it throws are ignored. Without it, the
   * first error is reported on the console; without `onDrop`, so is the number of dropped entries so far: at the first,
   * and each time that it has grown tenfold.
   * @default none
   */
  onError?: (error: Error) => void;
  /**
   * Called with dropped entries, redacted, and the reason. Errors that it throws are ignored.
   * @default none
   */
  onDrop?: (entries: LogEntry[], reason: DropReason) => void;
  /**
   * Whether the library reports its errors and drops on the console.
   * @default false
   */
  debug?: boolean;
  /**
   * Delivery options of the transports `batch` and `http`, and of custom transports with `send`.
   * @default {}
   */
  batch?: BatchOptions;
  /**
   * Additional member names whose values are masked, in any spelling.
   * @default []
   */
  redact?: readonly string[];
}

/**
 * Options of `createLogger`. The transports `batch` and `http` need `apiUrl` and `projectId`, here or in the
 * environment.
 */
export interface LoggerOptions extends CommonOptions {
  /**
   * URL of the service, like `https://logs.example.com`.
   * @default process.env.TAFFRAIL_URL, on Node, Bun and Workers
   */
  apiUrl?: string | undefined;
  /**
   * Project that receives the entries.
   * @default process.env.TAFFRAIL_PROJECT, on Node, Bun and Workers
   */
  projectId?: string | undefined;
  /**
   * Where entries go: one or several transports.
   * @default "batch"
   */
  transport?: TransportName | Transport | readonly (TransportName | Transport)[];
}

/** How a child logger differs from its parent besides its fields. */
export interface ChildOptions {
  /**
   * Level of the child and of its own children.
   * @default the parent's, also after a change of that
   */
  level?: LevelSetting | undefined;
  /**
   * Functions that replace members of a call's `data`, by member name, as in pino and Fastify.
   * @default the parent's
   * @example
   * const serializers = { req: (request: Request) => ({ method: request.method, url: request.url }) };
   * const log = logger.child({}, { serializers });
   */
  // biome-ignore lint/suspicious/noExplicitAny: each serializer defines the type of its own member.
  serializers?: Readonly<Record<string, (value: any) => unknown>> | undefined;
}

/** Fields of a child logger or a context. The named ones become members of the entry itself, the others of `data`. */
export interface ContextFields {
  /** Replaces the logger's `sessionId`. */
  session?: string;
  traceId?: string;
  spanId?: string;
  /** A W3C `traceparent` header, which sets `traceId` and `spanId`. A malformed header is ignored. */
  traceparent?: string | null;
  [name: string]: unknown;
}
