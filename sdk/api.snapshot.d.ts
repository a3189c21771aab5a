// dist/index.d.mts
import { BatchOptions, BuiltInCategories, Category, CategoryScope, CategoryType, ChildOptions, ContextFields, DropReason, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerOptions, LoggerStats, SamplingOptions, TaffrailCategories, Transport, TransportName } from "./types.mjs";
/**
 * Makes a logger.
 * @throws TypeError for options that are wrong or missing; no method of the logger ever throws
 * @example const logger = createLogger({ apiUrl: "https://logs.example.com", projectId: "proj_...", service: "shop" });
 */
declare function createLogger(options?: LoggerOptions): Logger;
export { type BatchOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ChildOptions, type ContextFields, type DropReason, type Explanation, type FlushResult, type LevelSetting, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, type SamplingOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

// dist/node/index.d.mts
import { BatchOptions, BuiltInCategories, Category, CategoryScope, CategoryType, ChildOptions, ContextFields, DropReason, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerOptions, LoggerStats, SamplingOptions, TaffrailCategories, Transport, TransportName } from "../types.mjs";
import { SpoolOptions } from "./spool.mjs";
type NodeLoggerOptions = LoggerOptions & {
  /**
   * Flush on SIGTERM, SIGINT and uncaught errors, which are logged too, and when nothing is left to do, for `timeoutMs`
   * milliseconds at most.
   * @default { timeoutMs: 3000 }
   */
  shutdown?: false | {
    timeoutMs?: number;
  };
  /**
   * Keeps what is out of retries, or could not be sent before the process ended, on disk. It is sent after the next
   * delivery that succeeds, or at the next start.
   */
  spool?: false | SpoolOptions;
};
/**
 * `createLogger` for Node and Bun: nothing logged is lost when the process ends, by whatever of exit, signal, uncaught
 * error or having nothing left to do.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
declare function createLogger(options?: NodeLoggerOptions): Logger;
export { type BatchOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ChildOptions, type ContextFields, type DropReason, type Explanation, type FlushResult, type LevelSetting, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, NodeLoggerOptions, type SamplingOptions, type SpoolOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

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
  /** All that were logged, oldest first. */
  readonly entries: readonly LogEntry[];
  /** What the logger calls. */
  write(json: string): void;
  /** Forgets all entries. */
  clear(): void;
  /** The entries that match, oldest first. */
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
import { webHandler } from "./web-handler.mjs";
import { IncomingMessage, ServerResponse } from "node:http";
declare global {
  namespace Express {
    /** Merged into the request of `@types/express`. */
    interface Request {
      /** Set by `taffrail(logger)`: entries logged with it carry the request's trace. */
      log: Logger;
    }
  }
}
/** A request of Connect or plain Node, where no type names `log`. Express's own request has it. */
type CapturedRequest = IncomingMessage & {
  originalUrl?: string;
  /** Entries logged with it carry the request's trace. */
  log?: Logger;
};
/** Without `log`: another package's types may have given a request a `log` of their own. */
type NodeRequest = IncomingMessage & {
  originalUrl?: string;
};
type Middleware = (request: NodeRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
type ErrorMiddleware = (error: unknown, request: NodeRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
/**
 * Captures requests and responses, for Express 4 and 5, Connect and plain Node servers. Put it before everything else,
 * body parsers included, and `taffrailErrors()` after the routes. `req.log` carries the request's trace.
 * @throws TypeError for options that are wrong
 */
declare function taffrail(logger: Logger, options?: CaptureOptions): Middleware;
/** Captures what routes throw, and passes it on. Put it after the routes and before handlers of errors. */
declare function taffrailErrors(): ErrorMiddleware;
export { type CaptureOptions, CapturedRequest, taffrail, taffrailErrors, webHandler };

// dist/browser/index.d.mts
import { BatchOptions, BuiltInCategories, Category, CategoryScope, CategoryType, ChildOptions, ContextFields, DropReason, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerOptions, LoggerStats, SamplingOptions, TaffrailCategories, Transport, TransportName } from "../types.mjs";
/** Options of a page's logger. What is not said here is as in `createLogger` of `taffrail`. */
interface BrowserLoggerOptions {
  /** The route of `taffrail/proxy` on the application's own server. No key is needed here, and none may be. */
  url: string;
  /**
   * The lowest level that is logged; `logger.level` changes it later.
   * @default "info"
   */
  level?: LevelSetting;
  /** The application's name, `service` in the `data` of every entry. */
  service?: string;
  /** Its version, `version` in `data`. */
  version?: string;
  /** Where it runs, like `production`: `environment` in `data`. */
  environment?: string;
  /**
   * Whether errors that no code caught, and rejections that no code handled, are logged too: level `error`, category
   * `system`, type `error`.
   * @default false
   */
  captureErrors?: boolean;
  /** Categories that are logged, default all. */
  categories?: readonly Category[] | null;
  /** Categories that are not logged. */
  excludeCategories?: readonly Category[] | null;
  /** Decided once for the session, so that it is kept or left out as a whole. */
  sampling?: SamplingOptions;
  /** Fields of every entry. */
  defaultMeta?: object;
  /** Default: made once for a tab, and kept while it is open. */
  sessionId?: string;
  /** Sees each entry, redacted. What it returns is sent, redacted once more; `null` drops it. */
  beforeSend?: (entry: LogEntry) => LogEntry | null;
  /** Gets what goes wrong in delivery. Without it the first failure is told on the console. */
  onError?: (error: Error) => void;
  /** Gets entries that are given up, and why. */
  onDrop?: (entries: LogEntry[], reason: DropReason) => void;
  /** Writes what the library does to the console, default false. */
  debug?: boolean;
  /** `maxQueueBytes` is 1 MiB by default: what waits is kept in `localStorage` too. */
  batch?: Pick<BatchOptions, "size" | "flushInterval" | "maxRetries" | "backoff" | "backoffBase" | "maxQueueBytes">;
  /** Further member names whose values are masked, in any spelling. */
  redact?: readonly string[];
}
/** What a page logs with: a `Logger`, whose `entries` is empty. */
type BrowserLogger = Logger;
/**
 * A logger for pages: what is logged arrives also when the page closes at once, or is offline. Where a server renders
 * the page there is none, and the logger does nothing.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
declare function createLogger(options: BrowserLoggerOptions): BrowserLogger;
export { type BatchOptions, BrowserLogger, BrowserLoggerOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ChildOptions, type ContextFields, type DropReason, type Explanation, type FlushResult, type LevelSetting, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, type SamplingOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

// dist/proxy/index.d.mts
import { ProxyOptions } from "./options.mjs";
import { RateLimit } from "./limit.mjs";
/** Takes entries of browsers and passes them on with the server's key. */
type ProxyHandler = (request: Request) => Promise<Response>;
/**
 * The handler of the route that `taffrail/browser` sends to, for any server that speaks the web's `Request` and
 * `Response`. Answers `OPTIONS` and `POST`. It never rejects.
 * @throws TypeError for options that are wrong
 */
declare function createProxy(options: ProxyOptions): ProxyHandler;
export { ProxyHandler, type ProxyOptions, type RateLimit, createProxy };

// dist/adapters/pino.d.mts
import { Logger, LoggerOptions } from "../types.mjs";
import { Writable } from "node:stream";
/** Which members of pino's lines are the message and the error. */
interface PinoOptions {
  /** As pino's own option, default `msg`. */
  messageKey?: string;
  /** As pino's own option, default `err`. */
  errorKey?: string;
}
/** Where pino writes its lines. */
interface PinoDestination {
  /** By this pino tells a destination from options. */
  readonly writable: true;
  write(line: string): void;
}
/**
 * A destination for pino: `pino(pinoDestination(logger))`. Pino decides by its own level first; give the logger the
 * level `trace` to have all of that. Redaction happens in both.
 */
declare function pinoDestination(logger: Logger, options?: PinoOptions): PinoDestination;
/** Options of the transport, which structured cloning carries into pino's worker thread. */
type PinoTransportOptions = LoggerOptions & PinoOptions;
/**
 * A transport for pino's worker thread:
 * `pino.transport({ target: "taffrail/pino", options: { apiUrl, apiKey, projectId } })`. Its level is `trace` unless
 * the options say otherwise, and entries keep the times pino gave them.
 */
declare function pinoTransport({ messageKey, errorKey, ...rest }: PinoTransportOptions): Writable;
export { PinoDestination, PinoOptions, PinoTransportOptions, pinoTransport as default, pinoDestination };

// dist/adapters/winston.d.mts
import { Logger } from "../types.mjs";
import { Writable } from "node:stream";
/** What winston knows of any transport. */
interface WinstonOptions {
  /** The least important level that is taken, in winston's names; default: the winston logger's own. */
  level?: string;
  /** Whether winston hands uncaught exceptions to it, default false. */
  handleExceptions?: boolean;
  /** Whether winston hands unhandled rejections to it, default false. */
  handleRejections?: boolean;
  /** Takes nothing, default false. */
  silent?: boolean;
}
type Info = Record<string | symbol, unknown>;
/**
 * A transport for winston 3: `winston.createLogger({ transports: [new TaffrailTransport(logger)] })`. Winston decides
 * by its own level first; give the logger the level `trace` to have all of that.
 */
declare class TaffrailTransport extends Writable {
  #private;
  level?: string;
  silent: boolean;
  handleExceptions: boolean;
  handleRejections: boolean;
  constructor(logger: Logger, options?: WinstonOptions);
  /** Winston asks for this method to know a transport by. */
  log(info: Info, done: () => void): void;
  override _write(info: Info, _encoding: string, done: (error?: Error | null) => void): void;
  override _final(done: (error?: Error | null) => void): void;
}
export { TaffrailTransport, WinstonOptions };

// dist/adapters/logtape.d.mts
import { Logger } from "../types.mjs";
/** A record of LogTape, as far as it is read here. */
interface LogTapeRecord {
  readonly category: readonly string[];
  readonly level: "trace" | "debug" | "info" | "warning" | "error" | "fatal";
  /** Texts and values in turn. */
  readonly message: readonly unknown[];
  readonly properties: Record<string, unknown>;
}
type LogTapeSink = ((record: LogTapeRecord) => void) & AsyncDisposable;
/**
 * A sink for LogTape: `configure({ sinks: { taffrail: logtapeSink(logger) }, ... })`. LogTape's category becomes
 * `data.logger`, joined by dots. `dispose()` of LogTape flushes. Give the logger the level `trace` to have all that
 * LogTape lets through.
 */
declare function logtapeSink(logger: Logger): LogTapeSink;
export { LogTapeRecord, LogTapeSink, logtapeSink };

// dist/adapters/next.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { Logger } from "../types.mjs";
interface NextOptions extends CaptureOptions {
  /**
   * Keeps the function alive until what was logged is sent: `after` of `next/server`, or `waitUntil` of the platform.
   * Not needed where the server runs on.
   */
  waitUntil?: (promise: Promise<unknown>) => void;
}
/** What Next gives `onRequestError` of `instrumentation.ts`. */
interface NextErrorRequest {
  path: string;
  method: string;
  headers: Record<string, string | string[] | undefined>;
}
interface NextErrorContext {
  routerKind: string;
  routePath: string;
  routeType: string;
  renderSource?: string;
  revalidateReason?: string | undefined;
}
/**
 * Captures a route handler: `export const GET = withTaffrail(logger, (request) => ...)`.
 * `redirect()` and `notFound()` are no errors. The handler may ask for a `NextRequest`.
 * @throws TypeError for options that are wrong
 */
declare function withTaffrail<Req extends Request = Request, Rest extends unknown[] = []>(logger: Logger, handler: (request: Req, ...rest: Rest) => Response | Promise<Response>, options?: NextOptions): (request: Req, ...rest: Rest) => Promise<Response>;
/**
 * Logs what Next's server catches, in pages, actions and middleware too:
 * `export const onRequestError = taffrailRequestError(logger)` in `instrumentation.ts`.
 */
declare function taffrailRequestError(logger: Logger): (error: unknown, request: NextErrorRequest, context: NextErrorContext) => Promise<void>;
export { type CaptureOptions, NextErrorContext, NextErrorRequest, NextOptions, taffrailRequestError, withTaffrail };

// dist/workers/index.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { Logger } from "../types.mjs";
/** The handlers of a Worker; those that are there are wrapped. */
interface WorkerHandlers<Env> {
  [name: string]: ((input: any, env: Env, context: any) => unknown) | undefined;
}
/**
 * Wraps a Worker: `export default withTaffrail((env) => createLogger({...}), { fetch(request, env, ctx) {...} })`.
 * `fetch` is captured; what `scheduled`, `queue` and the others throw is logged and goes on. Each call flushes in
 * `waitUntil`, so nothing is left to a timer.
 *
 * @param makeLogger called once for each `env`, at its first request
 */
declare function withTaffrail<Env extends object, Handlers extends WorkerHandlers<Env>>(makeLogger: (env: Env) => Logger, handlers: Handlers, options?: CaptureOptions): Handlers;
export { type CaptureOptions, WorkerHandlers, withTaffrail };

// dist/nuxt/index.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { LogLevel } from "../types.mjs";
/** What may stand under `taffrail` in `nuxt.config.ts`: only what can be written down as JSON. */
interface TaffrailNuxtOptions {
  apiUrl?: string;
  projectId?: string;
  /** Better in the environment: `NUXT_TAFFRAIL_API_KEY`. Never sent to browsers. */
  apiKey?: string;
  level?: LogLevel;
  defaultMeta?: Record<string, unknown>;
  /** Paths as text; patterns need a plugin of one's own with `createNitroPlugin`. */
  capture?: CaptureOptions;
}
/** What this module uses of Nuxt. */
interface Nuxt {
  options: {
    taffrail?: TaffrailNuxtOptions;
    runtimeConfig: Record<string, unknown>;
  };
  hook(name: "nitro:init", listener: (nitro: Nitro) => void): unknown;
}
interface Nitro {
  options: {
    plugins: string[];
    virtual: Record<string, string | (() => string)>;
  };
}
/**
 * The module for Nuxt 3 and 4: `modules: ["taffrail/nuxt"]`. Every option can be set by the environment too, as
 * `NUXT_TAFFRAIL_API_URL`, `NUXT_TAFFRAIL_PROJECT_ID`, `NUXT_TAFFRAIL_API_KEY`.
 */
declare function taffrail(inline: TaffrailNuxtOptions, nuxt: Nuxt): void;
export { TaffrailNuxtOptions, taffrail as default };

// dist/nuxt/nitro.d.mts
import { Logger } from "../types.mjs";
import { TaffrailNuxtOptions } from "./index.mjs";
import { IncomingMessage, ServerResponse } from "node:http";
/** An event of h3, as far as it is used here. */
interface NitroEvent {
  node: {
    req: IncomingMessage;
    res: ServerResponse;
  };
  context: Record<string, unknown>;
}
/** What a plugin gets of Nitro. */
interface NitroApp {
  hooks: {
    hook(name: "error", listener: (error: unknown, context: {
      event?: NitroEvent;
    }) => void): unknown;
    hook(name: "afterResponse", listener: (event: NitroEvent) => void): unknown;
    hook(name: "close", listener: () => unknown): unknown;
  };
  h3App: {
    handler: (event: NitroEvent) => unknown;
  };
}
/**
 * A plugin of Nitro that captures requests, for Nuxt and for Nitro alone. `event.context.logger` carries the
 * request's trace, and so does what any logger logs while it is handled.
 * @param options or a logger of one's own with what to capture
 */
declare function createNitroPlugin(options: TaffrailNuxtOptions | {
  logger: Logger;
  capture?: TaffrailNuxtOptions["capture"];
}): (nitroApp: NitroApp) => void;
export { NitroApp, NitroEvent, createNitroPlugin };

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
/** The name of a category, the user's own included. */
type Category = keyof Categories & string;
/** The types of a category. */
type CategoryType<C extends Category> = Categories[C] & string;
/** `tool-call` as a member name of `logger.ai`: `toolCall`. Types of the user's own keep their names. */
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;
/**
 * Fields of one entry. An `Error` becomes `{error}`, and a list `{value}`. Beside an error as message, which is `error`
 * itself, a second error becomes `error2`, and a Map or the like `value`. Redacted and copied at the call; no reference
 * is kept.
 */
type LogData = object;
/**
 * Logs one entry. Returns at once and never throws.
 *
 * Also in pino's order, an object or error first and then the message.
 * @example
 * logger.info("Cart restored", { items: 3 });
 * logger.error(new Error("Payment gateway timed out"));
 * logger.error(error, "Payment failed");
 */
interface LogMethod {
  (message: string | Error, data?: LogData): void;
  (data: LogData, message: string): void;
}
/** A level, or `silent` for none of them. */
type LevelSetting = LogLevel | "silent";
/** Names of levels elsewhere: `warning` logs at `warn`, `notice` at `info`, `critical` at `fatal`. */
type LevelAlias = "warning" | "notice" | "critical";
/** One method per type of a category. Types named like a level log at that level, all others at `info`. */
type CategoryScope<C extends Category> = string extends CategoryType<C> ? {
  readonly [type: string]: LogMethod;
} : { readonly [T in CategoryType<C> as C extends keyof BuiltInCategories ? CamelCase<T> : T]: LogMethod; };
/** An entry as it is sent. */
interface LogEntry {
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
/** How entries travel to the service. */
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
/**
 * Which part of the entries is kept. The trace decides, or without one the session that was given (`sessionId`, or a field
 * `session`), so that those stay whole. With neither each entry is drawn for itself: the automatic session lasts as long as
 * its logger, and all or nothing of a process would be kept. In browsers the session of the tab decides.
 */
interface SamplingOptions {
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
interface LoggerOptions extends CommonOptions {
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
interface ChildOptions {
  /**
   * A level of its own, which its own children share.
   * @default that of its parent, also when that changes
   */
  level?: LevelSetting | undefined;
  /**
   * What members of a call's `data` become, by their names, as pino and Fastify have it.
   * @example { req: (request) => ({ method: request.method, url: request.url }) }
   */
  serializers?: Readonly<Record<string, (value: any) => unknown>> | undefined;
}
/** Fields of a child or a context. The named ones go to the entry's own members, the rest to `data`. */
interface ContextFields {
  /** In place of the logger's `sessionId`. */
  session?: string;
  traceId?: string;
  spanId?: string;
  /** A W3C `traceparent` header: gives `traceId` and `spanId`. One that is malformed is ignored. */
  traceparent?: string | null;
  [name: string]: unknown;
}
/** What became of entries between the call and its end; `stats()` has the totals. */
interface FlushResult {
  /** Entries the transports took since the call. */
  delivered: number;
  /** Entries given up since the call. */
  dropped: number;
  /** Entries that still wait in memory. */
  pending: number;
}
/** Totals since the logger was made, its children included. */
interface LoggerStats {
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
interface Explanation {
  sent: boolean;
  step: "level" | "category" | "sampling" | "beforeSend" | "transport";
  reason: string;
}
type Scopes = { readonly [C in Exclude<Category, keyof LoggerMethods>]: CategoryScope<C>; };
/** What a logger can do, besides its categories: `logger.http.request("GET /")`. */
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
  flush(options?: {
    timeoutMs?: number;
  }): Promise<FlushResult>;
  /** Flushes, then drops what is logged later. */
  close(options?: {
    timeoutMs?: number;
  }): Promise<FlushResult>;
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
type Aliases = { readonly [A in Exclude<LevelAlias, Category>]: LogMethod; };
/** A logger: its methods, and a member for each category. */
type Logger = LoggerMethods & Aliases & Scopes;
export { BatchOptions, BuiltInCategories, Category, CategoryScope, CategoryType, ChildOptions, ContextFields, DropReason, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerOptions, LoggerStats, SamplingOptions, TaffrailCategories, Transport, TransportName };

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

// dist/adapters/web-handler.d.mts
import { IncomingMessage, ServerResponse } from "node:http";
/** A request of Node or Express; `ip` is Express's, which knows what proxies to trust. */
type NodeRequest = IncomingMessage & {
  originalUrl?: string;
  ip?: string | undefined;
  body?: unknown;
};
/**
 * Serves a handler of the web's `Request` and `Response`, like that of `taffrail/proxy`, in Express, Connect or Node:
 * `app.all("/logs", webHandler(createProxy(options)))`. The client's address comes from Express or the socket, never
 * from a header the client may have written itself.
 */
declare function webHandler(handler: (request: Request) => Promise<Response>): (request: NodeRequest, response: ServerResponse, next?: (error: unknown) => void) => void;
export { webHandler };

// dist/proxy/options.d.mts
import { RateLimit } from "./limit.mjs";
/** Where a proxy passes entries on to, and what it lets pass. */
interface ProxyOptions {
  /** The service. A build (Next) evaluates routes without their environment: what is `undefined` fails with the first request. */
  apiUrl: string | undefined;
  /** The project that gets the entries. */
  projectId: string | undefined;
  /** A key with the scope `logs:write`. It never leaves the server. */
  apiKey: string | undefined;
  /** Origins that may send, like `https://shop.example`. Default: only pages of the host that the request names. */
  origins?: readonly string[] | ((origin: string, request: Request) => boolean);
  /** Bytes of a request's body, 1 to 5 MiB, default 65,536. */
  maxBytes?: number;
  /** Entries of a request, 1 to 1,000, default 500. */
  maxEntries?: number;
  /** Members of `data` that are passed on, default all. */
  dataFields?: readonly string[];
  /**
   * Default: 120 requests a minute and address, and 6,000 of all together, counted in this process. `false` for none;
   * or what says whether a request may pass, by a store that all processes share. One that fails lets it pass.
   */
  rateLimit?: {
    perAddress?: number;
    total?: number;
  } | false | RateLimit;
  /** The client's address. Default: `CF-Connecting-IP`, then the first of `X-Forwarded-For`. */
  clientAddress?: (request: Request) => string | undefined;
  /**
   * Gets what goes wrong between here and the service; browsers are not told. Default: the first failure is written to
   * the console.
   */
  onError?: (error: Error) => void;
  /** Milliseconds to wait for the service, default 10,000. */
  timeout?: number;
  /** In place of the global one. */
  fetch?: typeof fetch;
}
export { ProxyOptions };

// dist/proxy/limit.d.mts
/** Says whether a request of this address may pass. `address` is missing where nothing tells it. */
type RateLimit = (address: string | undefined, request: Request) => boolean | Promise<boolean>;
export { RateLimit };
