/** Log levels in order of severity, from `trace` (0) to `fatal` (6). */
export type LogLevel = "trace" | "debug" | "log" | "info" | "warn" | "error" | "fatal";

/**
 * Categories of the application and their types, added by declaration merging.
 * @example
 * declare module "taffrail" {
 *   interface TaffrailCategories {
 *     billing: "invoice" | "refund";
 *   }
 * }
 * logger.billing.refund("Refund issued", { orderId: "o_1" });
 */
// biome-ignore lint/suspicious/noEmptyInterface: applications merge members into this interface.
export interface TaffrailCategories {}

/** The categories whose types the service checks. The first type of a category is its default. */
export interface BuiltInCategories {
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
/** The name of a category, built-in or added to `TaffrailCategories`. */
export type Category = keyof Categories & string;
/** The types of a category. */
export type CategoryType<C extends Category> = Categories[C] & string;

/**
 * The member name of a built-in type: `tool-call` is `logger.ai.toolCall`. Types of the application keep their names.
 */
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/**
 * Fields of one entry. They are copied and redacted during the call; no reference is kept.
 *
 * All of them become members of the entry's `data`, whatever their names: `session`, `traceId`, `spanId`, `level`,
 * `category`, `type` and `timestamp` of a call are not those of the entry, and filters by session or trace do not find
 * them. To set those of the entry, use `child`, `withContext`, `category` or `beforeSend`.
 *
 * An `Error` becomes `{error}`, and a list `{value}`. If the message is an error, that error is the field `error`, a
 * second error is `error2`, and a Map or another iterable is `value`.
 */
export type LogData = object;

/**
 * Logs one entry. Returns immediately and never throws.
 *
 * Also accepts pino's order: an object or error first, then the message.
 * @example
 * const error = new Error("Card declined");
 * logger.info("Cart restored", { items: 3 });
 * logger.error(new Error("Payment gateway timed out"));
 * logger.error(error, "Payment failed");
 */
export interface LogMethod {
  (message: string | Error, data?: LogData): void;
  (data: LogData, message: string): void;
}

/** The lowest level that is logged, or `silent` to log nothing. */
export type LevelSetting = LogLevel | "silent";

/** Level names of other loggers: `warning` logs at `warn`, `notice` at `info`, `critical` at `fatal`. */
type LevelAlias = "warning" | "notice" | "critical";

/** One method per type of a category. Types named like a level log at that level, all others at `info`. */
export type CategoryScope<C extends Category> =
  string extends CategoryType<C>
    ? { readonly [type: string]: LogMethod }
    : { readonly [T in CategoryType<C> as C extends keyof BuiltInCategories ? CamelCase<T> : T]: LogMethod };

/** An entry as the client sends it. */
export interface LogEntry {
  /** Time of the call, ISO 8601 UTC with milliseconds. */
  timestamp: string;
  level: LogLevel;
  /** The category, `custom` by default. */
  category: string;
  /** The type within the category. Default: the first type of a built-in category, else `log`. */
  type: string;
  message: string;
  /** The session of the context or child logger, else the logger's `sessionId`. At most 256 characters. */
  session?: string;
  /** The trace of the entry: 32 hexadecimal digits if it comes from a `traceparent`. */
  traceId?: string;
  /** The span within the trace. */
  spanId?: string;
  /** Fields of the call, the logger and the context, redacted. */
  data?: Record<string, unknown>;
}

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

/**
 * Counts since the end of the flush before, or since the logger was created. So they include what happened between two
 * flushes, as in a loop that fills the queue. `stats()` returns the totals.
 */
export interface FlushResult {
  /** Entries that were delivered since the flush before. */
  delivered: number;
  /** Entries that were dropped since the flush before. */
  dropped: number;
  /** Entries that are still in memory after the flush. */
  pending: number;
}

/**
 * Totals since the logger was created, its children included. With several transports an entry counts once for each,
 * except in `logged`.
 */
export interface LoggerStats {
  /** Entries passed to the transports. Each counts once, independent of the number of transports. */
  logged: number;
  /** Entries left out by `sampling`. */
  sampledOut: number;
  /** Entries for which `beforeSend` returned `null`. */
  filtered: number;
  /** Entries that a transport accepted. */
  delivered: number;
  /** Entries given up, as reported to `onDrop`. */
  dropped: number;
  /** Entries in memory or in flight. */
  pending: number;
  /** Bytes of the pending entries, at most `batch.maxQueueBytes`. */
  pendingBytes: number;
  /** Deliveries that were started, retries included. */
  requests: number;
  /** Deliveries that failed and were scheduled again. */
  retries: number;
  /** Entries moved to the spool of `taffrail/node` after the last retry. An entry whose resend fails counts again. */
  spooled: number;
}

/** The step of the pipeline at which an entry would end, and why. */
export interface Explanation {
  sent: boolean;
  step: "level" | "category" | "sampling" | "beforeSend" | "transport";
  reason: string;
}

type Scopes = { readonly [C in Exclude<Category, keyof LoggerMethods>]: CategoryScope<C> };

/** The methods of a logger. Categories are members too: `logger.http.request("GET /")`. */
export interface LoggerMethods {
  trace: LogMethod;
  debug: LogMethod;
  log: LogMethod;
  info: LogMethod;
  warn: LogMethod;
  error: LogMethod;
  fatal: LogMethod;
  /**
   * Creates a logger whose entries have this category and type.
   * @example
   * logger.category("database", "slow-query").warn("Slow query", { durationMs: 912 });
   */
  category<C extends Category>(category: C, type?: CategoryType<C>): Logger;
  /**
   * Creates a logger whose entries also have these fields. The parent keeps no reference to it.
   * @example
   * const log = logger.child({ requestId: "r_1" }, { level: "debug" });
   * log.debug("Cache miss");
   */
  child(fields: ContextFields, options?: ChildOptions): Logger;
  /**
   * The lowest level that is logged. It can be set at any time.
   *
   * It applies to this logger and to all children without a level of their own. Set on a child, it applies to that
   * child and to loggers created from it later. A method that was destructured while its level was disabled (`const {
   * debug } = logger`) stays disabled. An unknown level name changes nothing and is reported to `onError`.
   * @example
   * process.on("SIGUSR2", () => {
   *   logger.level = logger.isLevelEnabled("debug") ? "info" : "debug";
   * });
   */
  level: LevelSetting;
  /**
   * Whether this logger logs at a level: by its level, its category, and a sampling rate other than 0.
   * @example
   * if (logger.isLevelEnabled("debug")) logger.debug("Memory", { usage: process.memoryUsage() });
   */
  isLevelEnabled(level: string): boolean;
  /**
   * Logs nothing, like pino's method of this name.
   * @example
   * const log = process.argv.includes("--quiet") ? logger.silent : logger.info;
   * log("Import finished");
   */
  silent: LogMethod;
  /**
   * Runs `work` and adds these fields to every entry that any logger logs during it. The context lasts across `await`
   * if the runtime has `AsyncLocalStorage`.
   * @returns the result of `work`
   * @example
   * await logger.withContext({ requestId: "r_1" }, async () => {
   *   logger.info("Order stored");
   * });
   */
  withContext<T>(fields: ContextFields, work: () => T): T;
  /**
   * Delivers the queued entries. Resolves after `timeoutMs` milliseconds (default 10,000) at the latest; never rejects.
   * @example
   * const { delivered, dropped, pending } = await logger.flush({ timeoutMs: 2000 });
   */
  flush(options?: { timeoutMs?: number }): Promise<FlushResult>;
  /**
   * Flushes, and drops every entry that is logged later.
   * @example
   * await logger.close();
   */
  close(options?: { timeoutMs?: number }): Promise<FlushResult>;
  /**
   * Returns the counts of all entries so far.
   * @example
   * const { dropped, pendingBytes } = logger.stats();
   */
  stats(): LoggerStats;
  /**
   * Returns what would happen to an entry, without logging it. Calls `beforeSend` if the entry gets that far.
   * @example
   * const { sent, step, reason } = logger.explain("debug", "Cache miss");
   */
  explain(level: LogLevel, message?: string, data?: LogData): Explanation;
  /** The newest entries of the transport `memory`, at most 1,000; empty without that transport. */
  readonly entries: readonly LogEntry[];
  /** The session of this logger's entries. */
  readonly sessionId: string;
  /** Closes the logger at the end of a block with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Methods with level names of other loggers, unless a category has that name. */
type Aliases = { readonly [A in Exclude<LevelAlias, Category>]: LogMethod };

/** A logger: its methods, and a member for each category. */
export type Logger = LoggerMethods & Aliases & Scopes;
