/** Levels by severity: `trace` 0 to `fatal` 6. */
export type LogLevel = "trace" | "debug" | "log" | "info" | "warn" | "error" | "fatal";

/**
 * The user's own categories and their types, added by declaration merging:
 * `declare module "taffrail" { interface TaffrailCategories { billing: "invoice" | "refund" } }`
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is there to be merged with.
export interface TaffrailCategories {}

/** The categories the service knows, with their types. The first type is the default. */
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
/** The name of a category, the user's own included. */
export type Category = keyof Categories & string;
/** The types of a category. */
export type CategoryType<C extends Category> = Categories[C] & string;

/** `tool-call` as a member name of `logger.ai`: `toolCall`. Types of the user's own keep their names. */
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/**
 * Fields of one entry. An `Error` becomes `{error}`, and a list `{value}`. Beside an error as message, which is `error`
 * itself, a second error becomes `error2`, and a Map or the like `value`. Redacted and copied at the call; no reference
 * is kept.
 */
export type LogData = object;

/**
 * Logs one entry. Returns at once and never throws.
 *
 * Also in pino's order, an object or error first and then the message.
 * @example
 * logger.info("Cart restored", { items: 3 });
 * logger.error(new Error("Payment gateway timed out"));
 * logger.error(error, "Payment failed");
 */
export interface LogMethod {
  (message: string | Error, data?: LogData): void;
  (data: LogData, message: string): void;
}

/** A level, or `silent` for none of them. */
export type LevelSetting = LogLevel | "silent";

/** Names of levels elsewhere: `warning` logs at `warn`, `notice` at `info`, `critical` at `fatal`. */
type LevelAlias = "warning" | "notice" | "critical";

/** One method per type of a category. Types named like a level log at that level, all others at `info`. */
export type CategoryScope<C extends Category> =
  string extends CategoryType<C>
    ? { readonly [type: string]: LogMethod }
    : { readonly [T in CategoryType<C> as C extends keyof BuiltInCategories ? CamelCase<T> : T]: LogMethod };

/** An entry as it is sent. */
export interface LogEntry {
  /** ISO 8601 UTC with milliseconds. */
  timestamp: string;
  level: LogLevel;
  /** `custom` unless it is logged with a category. */
  category: string;
  /** `log` unless it is logged with a type; in a category of the service its first. */
  type: string;
  message: string;
  /** The logger's `sessionId`, or the one of a child or a context. */
  session?: string;
  /** The trace it belongs to, 32 hexadecimal digits where it came by `traceparent`. */
  traceId?: string;
  /** The span within the trace. */
  spanId?: string;
  /** What was given to the call, with the fields of its logger and context; redacted. */
  data?: Record<string, unknown>;
}

/**
 * Where entries go besides the service. `send` gets entries from a queue, in order, one call at a time; a rejection
 * is retried like a failed request. `write` is called at once with each entry's JSON.
 */
export type Transport =
  | { send(entries: LogEntry[]): void | Promise<void>; flush?(): void | Promise<void>; close?(): void | Promise<void> }
  | { write(json: string, level: LogLevel): void; flush?(): void | Promise<void>; close?(): void | Promise<void> };

/** `batch`: many entries a request. `http`: one each. `console`: standard output. `memory`: `logger.entries`. */
export type TransportName = "batch" | "console" | "http" | "memory";

/**
 * Why entries were dropped: the queue was full, retries ran out, the service refused the entry or the request, an
 * entry alone was too large, the logger was closed, or `beforeSend` threw.
 */
export type DropReason = "queue-full" | "retries" | "rejected" | "too-large" | "closed" | "before-send";

/** How entries travel to the service. */
export interface BatchOptions {
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

/**
 * Which part of the entries is kept. The trace decides, or without one the session that was given (`sessionId`, or a field
 * `session`), so that those stay whole. With neither each entry is drawn for itself: the automatic session lasts as long as
 * its logger, and all or nothing of a process would be kept. In browsers the session of the tab decides.
 */
export interface SamplingOptions {
  /** Part of the entries to keep, 0 to 1, default 1. */
  rate?: number;
  /** Rates of single levels. */
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
   * The service's name, `service` in the `data` of every entry. A field of the same name in `defaultMeta`, a child, a context
   * or the call stands in its place.
   * @default process.env.TAFFRAIL_SERVICE, else OTEL_SERVICE_NAME, else `service.name` of OTEL_RESOURCE_ATTRIBUTES
   */
  service?: string | undefined;
  /**
   * Its version, `version` in `data`.
   * @default process.env.TAFFRAIL_VERSION, else `service.version` of OTEL_RESOURCE_ATTRIBUTES
   */
  version?: string | undefined;
  /**
   * Where it runs, like `production`: `environment` in `data`.
   * @default process.env.TAFFRAIL_ENVIRONMENT, else `deployment.environment.name` of OTEL_RESOURCE_ATTRIBUTES
   */
  environment?: string | undefined;
  /**
   * The machine or instance, `host` in `data`.
   * @default process.env.TAFFRAIL_HOST, else `host.name` of OTEL_RESOURCE_ATTRIBUTES
   */
  host?: string | undefined;
  /** Categories that are logged, default all. */
  categories?: readonly Category[] | null;
  /** Categories that are not logged. */
  excludeCategories?: readonly Category[] | null;
  /** Default: everything is kept. */
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
  /**
   * Gets what goes wrong in delivery, a failed request among it, also if a further try succeeds. What it throws is ignored.
   * Without it the first failure, and the first entries that are given up, are told on the console.
   */
  onError?: (error: Error) => void;
  /** Gets entries that are given up, redacted, and why. What it throws is ignored. */
  onDrop?: (entries: LogEntry[], reason: DropReason) => void;
  /** Writes what the library does to the console, default false. */
  debug?: boolean;
  /** Of the transports `batch` and `http`, and of one's own with `send`. */
  batch?: BatchOptions;
  /** Further member names whose values are masked, in any spelling. */
  redact?: readonly string[];
}

/** Options of `createLogger`. The service's transports need `apiUrl` and `projectId`, here or from the environment. */
export interface LoggerOptions extends CommonOptions {
  /**
   * The service's address, like `https://logs.example.com`.
   * @default process.env.TAFFRAIL_URL, on Node, Bun and Workers
   */
  apiUrl?: string | undefined;
  /**
   * The project that gets the entries.
   * @default process.env.TAFFRAIL_PROJECT, on Node, Bun and Workers
   */
  projectId?: string | undefined;
  /**
   * Where entries go: one or several.
   * @default "batch"
   */
  transport?: TransportName | Transport | readonly (TransportName | Transport)[];
}

/** How a child differs from its parent besides its fields. */
export interface ChildOptions {
  /**
   * A level of its own, which its own children share.
   * @default that of its parent, also when that changes
   */
  level?: LevelSetting | undefined;
  /**
   * What members of a call's `data` become, by their names, as pino and Fastify have it.
   * @example { req: (request) => ({ method: request.method, url: request.url }) }
   */
  // biome-ignore lint/suspicious/noExplicitAny: each one knows what its own member is.
  serializers?: Readonly<Record<string, (value: any) => unknown>> | undefined;
}

/** Fields of a child or a context. The named ones go to the entry's own members, the rest to `data`. */
export interface ContextFields {
  /** In place of the logger's `sessionId`. */
  session?: string;
  traceId?: string;
  spanId?: string;
  /** A W3C `traceparent` header: gives `traceId` and `spanId`. One that is malformed is ignored. */
  traceparent?: string | null;
  [name: string]: unknown;
}

/** What became of entries between the call and its end; `stats()` has the totals. */
export interface FlushResult {
  /** Entries the transports took since the call. */
  delivered: number;
  /** Entries given up since the call. */
  dropped: number;
  /** Entries that still wait in memory. */
  pending: number;
}

/** Totals since the logger was made, its children included. */
export interface LoggerStats {
  /** Entries handed to the transports, each counted once, however many transports there are. */
  logged: number;
  /** By `sampling`. */
  sampledOut: number;
  /** By `beforeSend`. */
  filtered: number;
  /** Taken by a transport; with several of them an entry counts once in each, here and below. */
  delivered: number;
  /** Given up: what `onDrop` gets. */
  dropped: number;
  /** Waiting in memory, or under way. */
  pending: number;
  /** What they take there, at most `batch.maxQueueBytes`. */
  pendingBytes: number;
  /** Deliveries that were begun, further tries included. */
  requests: number;
  /** Deliveries that are to be tried again. */
  retries: number;
  /** Went to the spool of `taffrail/node` out of retries; each later try that fails too counts them again. */
  spooled: number;
}

/** Where the pipeline would end for an entry, and why. */
export interface Explanation {
  sent: boolean;
  step: "level" | "category" | "sampling" | "beforeSend" | "transport";
  reason: string;
}

type Scopes = { readonly [C in Exclude<Category, keyof LoggerMethods>]: CategoryScope<C> };

/** What a logger can do, besides its categories: `logger.http.request("GET /")`. */
export interface LoggerMethods {
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
  child(fields: ContextFields, options?: ChildOptions): Logger;
  /**
   * The lowest level that is logged. It may be set at any time, for this logger and all its children without a level of
   * their own; on a child for itself, and for what is made of it afterwards. A method that was taken off the logger while
   * its level was closed (`const { debug } = logger`) stays closed. A name that is no level changes nothing, and `onError`
   * gets it.
   * @example
   * process.on("SIGUSR2", () => {
   *   logger.level = logger.isLevelEnabled("debug") ? "info" : "debug";
   * });
   */
  level: LevelSetting;
  /**
   * Whether this logger logs at a level: by its level, its category, and a sampling rate that is not 0.
   * @example
   * if (logger.isLevelEnabled("debug")) logger.debug("Plan", { plan: explainPlan() });
   */
  isLevelEnabled(level: string): boolean;
  /**
   * Logs nothing, as pino's.
   * @example const log = isQuiet ? logger.silent : logger.info;
   */
  silent: LogMethod;
  /** Runs `work`; every entry logged in it, by any logger, has these fields too, across `await` where the runtime can. */
  withContext<T>(fields: ContextFields, work: () => T): T;
  /** Sends what waits. Always settles, after `timeoutMs` (default 10,000) at the latest; never rejects. */
  flush(options?: { timeoutMs?: number }): Promise<FlushResult>;
  /** Flushes, then drops what is logged later. */
  close(options?: { timeoutMs?: number }): Promise<FlushResult>;
  /** What became of all entries so far. */
  stats(): LoggerStats;
  /** What would become of an entry. `beforeSend` is asked if the entry gets that far. */
  explain(level: LogLevel, message?: string, data?: LogData): Explanation;
  /** What the transport `memory` holds, at most the newest 1,000; empty without it. */
  readonly entries: readonly LogEntry[];
  /** The entry's session. */
  readonly sessionId: string;
  /** `await using logger = createLogger(...)`: closes it at the end of the block. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Methods under other loggers' names of levels, except where a category has the name. */
type Aliases = { readonly [A in Exclude<LevelAlias, Category>]: LogMethod };

/** A logger: its methods, and a member for each category. */
export type Logger = LoggerMethods & Aliases & Scopes;
