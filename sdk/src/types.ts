import type { ChildOptions, ContextFields } from "./logger-options.ts";

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
