// dist/index.d.mts
import { BatchOptions, ChildOptions, ContextFields, DropReason, LoggerOptions, SamplingOptions, Transport, TransportName } from "./logger-options.mjs";
import { BuiltInCategories, Category, CategoryScope, CategoryType, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerStats, TaffrailCategories } from "./types.mjs";
/**
 * Creates a logger for any runtime. No method of the logger throws.
 * @throws TypeError for invalid or missing options
 * @example
 * import { createLogger } from "taffrail";
 *
 * const logger = createLogger({ apiUrl: "https://logs.example.com", projectId: "proj_...", service: "shop" });
 * logger.info("Cart restored", { items: 3 });
 */
declare function createLogger(options?: LoggerOptions): Logger;
export { type BatchOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ChildOptions, type ContextFields, type DropReason, type Explanation, type FlushResult, type LevelSetting, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, type SamplingOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

// dist/node/index.d.mts
import { BatchOptions, ChildOptions, ContextFields, DropReason, LoggerOptions, SamplingOptions, Transport, TransportName } from "../logger-options.mjs";
import { BuiltInCategories, Category, CategoryScope, CategoryType, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerStats, TaffrailCategories } from "../types.mjs";
import { SpoolOptions } from "./spool.mjs";
/** Options of `createLogger` on Node and Bun. */
type NodeLoggerOptions = LoggerOptions & {
  /**
   * Flushes on SIGTERM, SIGINT, uncaught errors and an empty event loop, for at most `timeoutMs` milliseconds. Uncaught
   * errors are also logged. `false` installs no listeners.
   * @default { timeoutMs: 3000 }
   */
  shutdown?: false | {
    timeoutMs?: number;
  };
  /**
   * Stores deliveries on disk whose retries ran out or that were pending when the process ended. They are sent after
   * the next successful delivery, or at the next start. `false` drops them.
   * @default {}
   */
  spool?: false | SpoolOptions;
};
/**
 * Creates a logger for Node and Bun that loses no entries when the process ends.
 *
 * That holds for `process.exit()`, SIGTERM, SIGINT, uncaught errors and an empty event loop. No method of the logger
 * throws.
 * @throws TypeError for invalid options
 * @example
 * import { createLogger } from "taffrail/node";
 *
 * const logger = createLogger({
 *   apiUrl: "https://logs.example.com",
 *   projectId: "proj_...",
 *   shutdown: { timeoutMs: 5000 },
 *   spool: { dir: "/var/spool/shop" },
 * });
 * logger.error(new Error("Payment gateway timed out"));
 */
declare function createLogger(options?: NodeLoggerOptions): Logger;
export { type BatchOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ChildOptions, type ContextFields, type DropReason, type Explanation, type FlushResult, type LevelSetting, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, NodeLoggerOptions, type SamplingOptions, type SpoolOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

// dist/testing.d.mts
import { LogEntry, LogLevel } from "./types.mjs";
/** Conditions on an entry. A member that is left out matches any value. */
interface EntryMatch {
  level?: LogLevel;
  category?: string;
  type?: string;
  /** The whole message, or a pattern that it matches. */
  message?: string | RegExp;
  /** Members that `data` must have with these values. Other members are allowed. */
  data?: Record<string, unknown>;
}
/** A transport that stores entries for assertions. An entry is stored before the log call returns. */
interface MemoryTransport {
  /** All entries, oldest first. */
  readonly entries: readonly LogEntry[];
  /** Stores an entry. The logger calls this method. */
  write(json: string): void;
  /** Removes all entries. */
  clear(): void;
  /** Returns the entries that match, oldest first. */
  find(match: EntryMatch): LogEntry[];
  /**
   * Asserts that at least one entry matches, or exactly `times` entries if that is given.
   * @returns the first entry that matches
   * @throws Error that lists the logged entries
   */
  assertLogged(match: EntryMatch, times?: number): LogEntry;
  /**
   * Asserts that no entry matches.
   * @throws Error that contains the first entry that matches
   */
  assertNotLogged(match: EntryMatch): void;
}
/**
 * Creates a transport that stores entries for assertions in tests.
 * @example
 * import { createLogger } from "taffrail";
 * import { memoryTransport } from "taffrail/testing";
 *
 * const logs = memoryTransport();
 * const logger = createLogger({ transport: logs });
 * logger.warn("Stock is low", { sku: "A-1", left: 2 });
 * logs.assertLogged({ level: "warn", message: /stock/i, data: { sku: "A-1" } });
 */
declare function memoryTransport(): MemoryTransport;
export { EntryMatch, MemoryTransport, memoryTransport };

// dist/adapters/hono.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { Logger } from "../types.mjs";
import { Context, MiddlewareHandler } from "hono";
/** Variables that the middleware sets on the context: `c.get("logger")` logs with the request's trace. */
interface TaffrailVariables {
  logger: Logger;
}
/**
 * Creates a Hono middleware that captures requests, responses and errors. Use it before all other middleware.
 *
 * On Workers each request flushes in `waitUntil` after its response has ended, because Workers end timers with the
 * request.
 *
 * @param logger a logger, or a function that returns it, if its options are in `c.env`. Return the same logger each
 * time.
 * @throws TypeError for invalid options
 * @example
 * import { Hono } from "hono";
 * import { createLogger } from "taffrail";
 * import { taffrail, type TaffrailVariables } from "taffrail/hono";
 *
 * const app = new Hono<{ Variables: TaffrailVariables }>();
 * app.use(taffrail(createLogger({ service: "shop" })));
 * app.get("/orders/:id", (c) => {
 *   c.get("logger").info("Order looked up", { id: c.req.param("id") });
 *   return c.json({ id: c.req.param("id") });
 * });
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
      /** Set by `taffrail(logger)`. Its entries carry the request's trace. */
      log: Logger;
    }
  }
}
/**
 * A captured request of Connect or plain Node, whose types have no `log`. Express's request type has `log` by merging.
 */
type CapturedRequest = IncomingMessage & {
  originalUrl?: string;
  /** A logger whose entries carry the request's trace. */
  log?: Logger;
};
/** Has no `log`, because the types of another package may declare a different one. */
type NodeRequest = IncomingMessage & {
  originalUrl?: string;
};
type Middleware = (request: NodeRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
type ErrorMiddleware = (error: unknown, request: NodeRequest, response: ServerResponse, next: (error?: unknown) => void) => void;
/**
 * Creates a middleware that captures requests and responses, for Express 4 and 5, Connect and plain Node servers. Use
 * it before all other middleware, body parsers included, and `taffrailErrors()` after the routes. Entries of `req.log`
 * carry the request's trace.
 * @throws TypeError for invalid options
 * @example
 * import express from "express";
 * import { taffrail, taffrailErrors } from "taffrail/express";
 * import { createLogger } from "taffrail/node";
 *
 * const app = express();
 * app.use(taffrail(createLogger({ service: "shop" })));
 * app.get("/orders/:id", (req, res) => {
 *   req.log.info("Order looked up", { id: req.params.id });
 *   res.json({ id: req.params.id });
 * });
 * app.use(taffrailErrors());
 */
declare function taffrail(logger: Logger, options?: CaptureOptions): Middleware;
/**
 * Creates an error handler that logs errors of routes and passes them on. Use it after the routes and before other
 * error handlers.
 * @example
 * import express from "express";
 * import { taffrail, taffrailErrors } from "taffrail/express";
 *
 * const app = express();
 * app.use(taffrail(logger));
 * app.get("/broken", () => {
 *   throw new Error("Payment gateway timed out");
 * });
 * app.use(taffrailErrors());
 */
declare function taffrailErrors(): ErrorMiddleware;
export { type CaptureOptions, CapturedRequest, taffrail, taffrailErrors, webHandler };

// dist/browser/index.d.mts
import { BuiltInCategories, Category, CategoryScope, CategoryType, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerStats, TaffrailCategories } from "../types.mjs";
import { BrowserLoggerOptions } from "./options.mjs";
import { BatchOptions, ChildOptions, ContextFields, DropReason, LoggerOptions, SamplingOptions, Transport, TransportName } from "../logger-options.mjs";
/** The logger of a page: a `Logger` whose `entries` is empty. */
type BrowserLogger = Logger;
/**
 * Creates a logger for pages, which delivers entries also if the page is offline or closes immediately.
 *
 * On a server that renders the page the logger does nothing. No method of the logger throws.
 * @throws TypeError for invalid or missing options
 * @example
 * import { createLogger } from "taffrail/browser";
 *
 * const logger = createLogger({ url: "/logs", service: "shop-web", captureErrors: true });
 * logger.info("Cart opened", { items: 3 });
 */
declare function createLogger(options: BrowserLoggerOptions): BrowserLogger;
export { type BatchOptions, BrowserLogger, type BrowserLoggerOptions, type BuiltInCategories, type Category, type CategoryScope, type CategoryType, type ChildOptions, type ContextFields, type DropReason, type Explanation, type FlushResult, type LevelSetting, type LogData, type LogEntry, type LogLevel, type LogMethod, type Logger, type LoggerMethods, type LoggerOptions, type LoggerStats, type SamplingOptions, type TaffrailCategories, type Transport, type TransportName, createLogger };

// dist/proxy/index.d.mts
import { ProxyOptions } from "./options.mjs";
import { RateLimit } from "./limit.mjs";
/** Receives entries of browsers and forwards them with the server's key. */
type ProxyHandler = (request: Request) => Promise<Response>;
/**
 * Creates the handler of the route to which `taffrail/browser` sends, for any server with web-standard `Request` and
 * `Response`. The handler answers `OPTIONS` and `POST`, and its promise never rejects.
 * @throws TypeError for invalid options
 * @example
 * import { Hono } from "hono";
 * import { createProxy } from "taffrail/proxy";
 *
 * const proxy = createProxy({
 *   apiUrl: process.env.TAFFRAIL_URL,
 *   projectId: process.env.TAFFRAIL_PROJECT,
 *   apiKey: process.env.TAFFRAIL_API_KEY,
 *   origins: ["https://shop.example"],
 * });
 * const app = new Hono();
 * app.all("/logs", (c) => proxy(c.req.raw));
 */
declare function createProxy(options: ProxyOptions): ProxyHandler;
export { ProxyHandler, type ProxyOptions, type RateLimit, createProxy };

// dist/adapters/pino.d.mts
import { LoggerOptions } from "../logger-options.mjs";
import { Logger } from "../types.mjs";
import { Writable } from "node:stream";
/** Which members of pino's lines are the message and the error. */
interface PinoOptions {
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
interface PinoDestination {
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
declare function pinoDestination(logger: Logger, options?: PinoOptions): PinoDestination;
/** Options of the transport, which structured cloning carries into pino's worker thread. */
type PinoTransportOptions = LoggerOptions & PinoOptions;
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
declare function pinoTransport({ messageKey, errorKey, ...rest }: PinoTransportOptions): Writable;
export { PinoDestination, PinoOptions, PinoTransportOptions, pinoTransport as default, pinoDestination };

// dist/adapters/winston.d.mts
import { Logger } from "../types.mjs";
import { Writable } from "node:stream";
/** The options that winston defines for every transport. */
interface WinstonOptions {
  /**
   * The least severe level that is logged, by winston's names.
   * @default the winston logger's level
   */
  level?: string;
  /**
   * Whether winston passes uncaught exceptions to this transport.
   * @default false
   */
  handleExceptions?: boolean;
  /**
   * Whether winston passes unhandled rejections to this transport.
   * @default false
   */
  handleRejections?: boolean;
  /**
   * Whether the transport ignores all entries.
   * @default false
   */
  silent?: boolean;
}
type Info = Record<string | symbol, unknown>;
/**
 * A transport for winston 3. Winston filters by its own level first, so create the logger with the level `trace` to
 * keep everything that winston logs.
 * @example
 * import { createLogger } from "taffrail";
 * import { TaffrailTransport } from "taffrail/winston";
 * import winston from "winston";
 *
 * const log = winston.createLogger({ transports: [new TaffrailTransport(createLogger({ level: "trace" }))] });
 * log.info("Cart restored", { items: 3 });
 */
declare class TaffrailTransport extends Writable {
  #private;
  level?: string;
  silent: boolean;
  handleExceptions: boolean;
  handleRejections: boolean;
  constructor(logger: Logger, options?: WinstonOptions);
  /** Logs one entry. Winston recognizes a transport by this method. */
  log(info: Info, done: () => void): void;
  override _write(info: Info, _encoding: string, done: (error?: Error | null) => void): void;
  override _final(done: (error?: Error | null) => void): void;
}
export { TaffrailTransport, WinstonOptions };

// dist/adapters/logtape.d.mts
import { Logger } from "../types.mjs";
/** The members of a LogTape record that the sink reads. */
interface LogTapeRecord {
  readonly category: readonly string[];
  readonly level: "trace" | "debug" | "info" | "warning" | "error" | "fatal";
  /** Texts and values, alternately. */
  readonly message: readonly unknown[];
  readonly properties: Record<string, unknown>;
}
/** A sink for LogTape, whose disposal flushes. */
type LogTapeSink = ((record: LogTapeRecord) => void) & AsyncDisposable;
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
declare function logtapeSink(logger: Logger): LogTapeSink;
export { LogTapeRecord, LogTapeSink, logtapeSink };

// dist/adapters/next.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { Logger } from "../types.mjs";
interface NextOptions extends CaptureOptions {
  /**
   * Keeps the function running until the entries are delivered: `after` of `next/server`, or `waitUntil` of the
   * platform. Not needed if the server keeps running.
   * @default none
   */
  waitUntil?: (promise: Promise<unknown>) => void;
}
/** The request that Next passes to `onRequestError` of `instrumentation.ts`. */
interface NextErrorRequest {
  path: string;
  method: string;
  headers: Record<string, string | string[] | undefined>;
}
/** The context that Next passes to `onRequestError`. */
interface NextErrorContext {
  routerKind: string;
  routePath: string;
  routeType: string;
  renderSource?: string;
  revalidateReason?: string | undefined;
}
/**
 * Wraps a route handler and captures its requests. `redirect()` and `notFound()` are logged as responses, not as
 * errors. The handler may take a `NextRequest`.
 * @throws TypeError for invalid options
 * @example
 * // app/api/orders/route.ts
 * import { withTaffrail } from "taffrail/next";
 *
 * export const GET = withTaffrail(logger, async (request) => {
 *   const id = new URL(request.url).searchParams.get("id");
 *   return Response.json({ id });
 * });
 */
declare function withTaffrail<Req extends Request = Request, Rest extends unknown[] = []>(logger: Logger, handler: (request: Req, ...rest: Rest) => Response | Promise<Response>, options?: NextOptions): (request: Req, ...rest: Rest) => Promise<Response>;
/**
 * Creates a handler that logs the errors which Next's server catches, also in pages, actions and middleware.
 * @example
 * // instrumentation.ts
 * import { taffrailRequestError } from "taffrail/next";
 *
 * export const onRequestError = taffrailRequestError(logger);
 */
declare function taffrailRequestError(logger: Logger): (error: unknown, request: NextErrorRequest, context: NextErrorContext) => Promise<void>;
export { type CaptureOptions, NextErrorContext, NextErrorRequest, NextOptions, taffrailRequestError, withTaffrail };

// dist/workers/index.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { Logger } from "../types.mjs";
/** The handlers of a Worker by name, like `fetch` and `scheduled`. */
interface WorkerHandlers<Env> {
  [name: string]: ((input: any, env: Env, context: any) => unknown) | undefined;
}
/**
 * Wraps the handlers of a Worker: captures `fetch`, and logs and rethrows errors of `scheduled`, `queue` and the
 * others. Each call flushes in `waitUntil`, because Workers end timers with their request.
 *
 * @param makeLogger called once for each `env`, at its first request
 * @throws TypeError for invalid options, at the first request
 * @example
 * import { createLogger } from "taffrail";
 * import { withTaffrail } from "taffrail/workers";
 *
 * interface Env {
 *   TAFFRAIL_API_KEY: string;
 * }
 *
 * export default withTaffrail(
 *   (env: Env) =>
 *     createLogger({ apiUrl: "https://logs.example.com", projectId: "proj_...", apiKey: env.TAFFRAIL_API_KEY }),
 *   {
 *     fetch: async (request: Request) => new Response(`Hello from ${new URL(request.url).pathname}`),
 *   },
 * );
 */
declare function withTaffrail<Env extends object, Handlers extends WorkerHandlers<Env>>(makeLogger: (env: Env) => Logger, handlers: Handlers, options?: CaptureOptions): Handlers;
export { type CaptureOptions, WorkerHandlers, withTaffrail };

// dist/nuxt/index.d.mts
import { CaptureOptions } from "../capture/options.mjs";
import { LogLevel } from "../types.mjs";
/** Options under `taffrail` in `nuxt.config.ts`. All values can be represented as JSON. */
interface TaffrailNuxtOptions {
  /**
   * URL of the service.
   * @default process.env.NUXT_TAFFRAIL_API_URL
   */
  apiUrl?: string;
  /**
   * Project that receives the entries.
   * @default process.env.NUXT_TAFFRAIL_PROJECT_ID
   */
  projectId?: string;
  /**
   * An API key with the scope `logs:write`. Prefer the environment variable. Never sent to browsers.
   * @default process.env.NUXT_TAFFRAIL_API_KEY
   */
  apiKey?: string;
  /**
   * The lowest level that is logged.
   * @default "info"
   */
  level?: LogLevel;
  /**
   * Fields of every entry.
   * @default {}
   */
  defaultMeta?: Record<string, unknown>;
  /**
   * What is captured of requests. Paths are strings here; patterns need a custom plugin with `createNitroPlugin`.
   * @default {}
   */
  capture?: CaptureOptions;
}
/** The part of Nuxt that this module uses. */
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
 * The module for Nuxt 3 and 4, which captures requests of the server. The options that are plain values can also be set
 * by the environment, like `NUXT_TAFFRAIL_API_URL` and `NUXT_TAFFRAIL_LEVEL`.
 * @example
 * // nuxt.config.ts
 * export default defineNuxtConfig({
 *   modules: ["taffrail/nuxt"],
 *   taffrail: { level: "debug", capture: { excludePaths: ["/health"] } },
 * });
 */
declare function taffrail(inline: TaffrailNuxtOptions, nuxt: Nuxt): void;
export { TaffrailNuxtOptions, taffrail as default };

// dist/nuxt/nitro.d.mts
import { Logger } from "../types.mjs";
import { TaffrailNuxtOptions } from "./index.mjs";
import { IncomingMessage, ServerResponse } from "node:http";
/** The members of an h3 event that the plugin uses. */
interface NitroEvent {
  node: {
    req: IncomingMessage;
    res: ServerResponse;
  };
  context: Record<string, unknown>;
}
/** The members of Nitro's application that the plugin uses. */
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
 * Creates a Nitro plugin that captures requests, for Nuxt and for Nitro without Nuxt. Entries logged by any logger
 * during a request carry its trace; `event.context.logger` carries it also later.
 * @param options options of a new logger, or an existing logger and what to capture
 * @throws TypeError for invalid options, when Nitro calls the plugin
 * @example
 * // server/plugins/taffrail.ts
 * import { createLogger } from "taffrail";
 * import { createNitroPlugin } from "taffrail/nuxt/nitro";
 *
 * const logger = createLogger({ service: "shop" });
 * export default createNitroPlugin({ logger, capture: { excludePaths: [/^\/_nuxt/] } });
 */
declare function createNitroPlugin(options: TaffrailNuxtOptions | {
  logger: Logger;
  capture?: TaffrailNuxtOptions["capture"];
}): (nitroApp: NitroApp) => void;
export { NitroApp, NitroEvent, createNitroPlugin };

// dist/query/index.d.mts
/** Why a text is not a query, and where. */
interface QueryError {
  /** What is wrong, then what is accepted. One sentence or two, without a final period. */
  message: string;
  /** UTF-16 offset in the query. */
  position: number;
  /** What is accepted at the position. */
  expected: string[];
  /** A text that may be meant, in place of what begins at the position. */
  suggestion?: string;
}
/**
 * The abstract syntax of a query: plain data that JSON can carry. `parse` produces it, `print` writes it as text.
 */
declare const LEVEL_NAMES: readonly ["trace", "debug", "log", "info", "warn", "error", "fatal"];
type LevelName = (typeof LEVEL_NAMES)[number];
/** Members of an entry that have a name of their own in queries. All other names are members of `data`. */
declare const OWN_FIELDS: readonly ["level", "category", "type", "message", "time", "received", "seq", "session", "trace", "span", "service", "host", "project", "id", "pattern"];
type OwnField = (typeof OWN_FIELDS)[number];
/** A field of an entry, or after a pipe that makes a table, a column. */
type Field = {
  kind: "own";
  name: OwnField;
} | {
  kind: "data";
  path: (string | number)[];
} | {
  kind: "column";
  name: string;
};
type Comparison = "<" | "<=" | ">" | ">=";
/** A point in time, or a period such as a day. */
type TimeValue = {
  kind: "ago";
  ms: number;
} | {
  kind: "period";
  from: number;
  to: number;
};
/** A value that has an order. */
type Scalar = {
  kind: "number";
  value: number;
} | {
  kind: "level";
  level: LevelName;
} | {
  kind: "time";
  time: TimeValue;
};
interface Regex {
  kind: "regex";
  source: string;
  ignoreCase: boolean;
}
/** `*` stands for any characters, also none. */
interface Wildcard {
  kind: "wildcard";
  pattern: string;
}
/** A test of a field's value. */
type ValueTest = {
  kind: "is";
  text: string;
} | {
  kind: "exact";
  text: string;
} | {
  kind: "exists";
} | {
  kind: "compare";
  operator: Comparison;
  value: Scalar;
} | {
  kind: "range";
  from: Scalar;
  to: Scalar;
} | {
  kind: "during";
  time: TimeValue;
} | {
  kind: "anyOf";
  tests: ValueTest[];
} | Wildcard | Regex;
/** A test of the message and of all strings, numbers and booleans in `data`. */
type TextTest = {
  kind: "contains";
  text: string;
} | Wildcard | Regex;
type Filter = {
  kind: "all";
} | {
  kind: "text";
  test: TextTest;
} | {
  kind: "field";
  field: Field;
  test: ValueTest;
} | {
  kind: "not";
  filter: Filter;
} | {
  kind: "and" | "or";
  filters: Filter[];
};
declare const AGGREGATE_FUNCTIONS: readonly ["count", "count_distinct", "sum", "avg", "min", "max", "p50", "p75", "p90", "p95", "p99", "p999", "first", "last", "values", "rate"];
type AggregateFunction = (typeof AGGREGATE_FUNCTIONS)[number];
interface Aggregate {
  fn: AggregateFunction;
  /** `null` only for `count` and `rate`. */
  field: Field | null;
  /** Name of the column; `null`: as written, `p99(ms)`. */
  as: string | null;
}
/** What rows are grouped by. */
type Key = {
  kind: "field";
  field: Field;
} | {
  kind: "bin";
  ms: number;
};
type Pipe = {
  kind: "where";
  filter: Filter;
} | {
  kind: "count";
  by: Key[];
} | {
  kind: "stats";
  aggregates: Aggregate[];
  by: Key[];
} | {
  kind: "top" | "rare";
  limit: number | null;
  by: Key[];
} | {
  kind: "patterns";
  limit: number | null;
  versus: number | null;
} | {
  kind: "facets";
  limit: number | null;
} | {
  kind: "fields";
  fields: Field[];
} | {
  kind: "sort";
  by: Field;
  order: "asc" | "desc";
} | {
  kind: "limit";
  limit: number;
} | {
  kind: "context";
  entries: number;
};
interface Query {
  filter: Filter;
  pipes: Pipe[];
}
/** Names of own fields with their aliases, for completion. */
declare const OWN_NAMES: readonly string[];
/** Returns the field of a path: an own field, else a member of `data`. */
declare function fieldOf(path: readonly (string | number)[]): Field;
/** Writes a field as `fieldOf` and the parser read it. */
declare function printField(field: Field): string;
/** A column of a table that a pipe makes. `any`: its values may have any type. */
interface TableColumn {
  name: string;
  type: "level" | "time" | "number" | "any";
}
/** What a piece of a query is, for its color. */
type TokenKind = "field" | "operator" | "text" | "value" | "regex" | "keyword" | "function" | "pipe";
/** A piece of a query, from `start` to `end` in UTF-16 offsets. */
interface Token {
  kind: TokenKind;
  start: number;
  end: number;
}
/** What may be written at a place of a query, for completion. */
interface Place {
  /** `filter`: a field or a text. `key`: a field to group or sort by. */
  kind: "filter" | "value" | "key" | "pipe" | "function" | "keyword" | "number" | "duration" | "name";
  /** UTF-16 offset at which what is being written begins. */
  start: number;
  /** The field whose value is written. */
  field: Field | null;
  /** Columns of the table that the pipes before make; `null`: entries. */
  columns: readonly TableColumn[] | null;
  /** The words that are accepted, if they are few. */
  words: readonly string[];
}
/** Limits of a query. */
declare const QUERY_LIMITS: {
  /** Bytes of UTF-8. */
  readonly bytes: 8192;
  /** Parentheses and negations within each other. */
  readonly depth: 64;
  /** Tests of fields and texts; each value of a list counts. */
  readonly atoms: 200;
};
type ParseResult = {
  ok: true;
  query: Query;
  columns: readonly TableColumn[] | null;
} | {
  ok: false;
  error: QueryError;
};
/** Reads a query. Throws nothing, whatever the text is. */
declare function parse(text: string): ParseResult;
/** Reads a query that must be a filter without pipes. */
declare function parseFilterText(text: string): ParseResult;
/** A query as far as it can be read, for an editor. */
interface Analysis {
  result: ParseResult;
  /** Pieces in order, up to an error. */
  tokens: readonly Token[];
}
declare function analyze(text: string): Analysis;
/** Returns what may be written at a position, which is in UTF-16 offsets. */
declare function placeAt(text: string, position: number): Place;
/** Writes a query as text that `parse` reads as the same query. */
declare function print({ filter, pipes }: Query): string;
/** Like `print`, with each pipe on a separate line. */
declare function format({ filter, pipes }: Query): string;
/** @param within what the filter is a part of, which decides whether it needs parentheses */
declare function printFilter(filter: Filter, within?: "whole" | "and" | "or" | "not"): string;
/** Returns the milliseconds of a duration such as `90s` or `1h30m`; `null` if the text is no duration, or is over 100 years. */
declare function parseDuration(text: string): number | null;
/** Returns a duration in its largest whole unit. */
declare function printDuration(ms: number): string;
/**
 * Reads a date or time: `2026`, `2026-11`, `2026-11-22`, `2026-11-22T10`, `2026-11-22T10:30:15.250Z`. Times without a
 * zone are UTC. A text without smaller units is the whole period: a day, an hour.
 */
declare function parseTime(text: string): TimeValue | null;
/** Returns the shortest text that `parseTime` reads as the value. */
declare function printTime(time: TimeValue): string;
export { AGGREGATE_FUNCTIONS, type Aggregate, type AggregateFunction, type Analysis, type Comparison, type Field, type Filter, type Key, LEVEL_NAMES, type LevelName, OWN_FIELDS, OWN_NAMES, type OwnField, type ParseResult, type Pipe, type Place, QUERY_LIMITS, type Query, type QueryError, type Regex, type Scalar, type TableColumn, type TextTest, type TimeValue, type Token, type TokenKind, type ValueTest, type Wildcard, analyze, fieldOf, format, parse, parseDuration, parseFilterText, parseTime, placeAt, print, printDuration, printField, printFilter, printTime };

// dist/logger-options.d.mts
import { Category, LevelSetting, LogEntry, LogLevel } from "./types.mjs";
/** Options of loggers: transports, batches, sampling, children. */
/**
 * A custom destination of entries.
 *
 * `send` receives entries from a queue, in order, one call at a time; if its promise rejects, the call is retried like
 * a failed request. `write` is called synchronously with the JSON of each entry.
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
/**
 * A built-in transport. `batch`: many entries per request. `http`: one entry per request. `console`: standard output.
 * `memory`: `logger.entries`.
 */
type TransportName = "batch" | "console" | "http" | "memory";
/**
 * Why entries were dropped: the queue was full, all retries failed, the service rejected the entry or the request, a
 * single entry was too large, the logger was closed, or `beforeSend` threw.
 */
type DropReason = "queue-full" | "retries" | "rejected" | "too-large" | "closed" | "before-send";
/** How entries are batched, retried and delivered. */
interface BatchOptions {
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
interface SamplingOptions {
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
interface LoggerOptions extends CommonOptions {
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
interface ChildOptions {
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
  serializers?: Readonly<Record<string, (value: any) => unknown>> | undefined;
}
/** Fields of a child logger or a context. The named ones become members of the entry itself, the others of `data`. */
interface ContextFields {
  /** Replaces the logger's `sessionId`. */
  session?: string;
  traceId?: string;
  spanId?: string;
  /** A W3C `traceparent` header, which sets `traceId` and `spanId`. A malformed header is ignored. */
  traceparent?: string | null;
  [name: string]: unknown;
}
export { BatchOptions, ChildOptions, ContextFields, DropReason, LoggerOptions, SamplingOptions, Transport, TransportName };

// dist/types.d.mts
import { ChildOptions, ContextFields } from "./logger-options.mjs";
/** Log levels in order of severity, from `trace` (0) to `fatal` (6). */
type LogLevel = "trace" | "debug" | "log" | "info" | "warn" | "error" | "fatal";
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
interface TaffrailCategories {}
/** The categories whose types the service checks. The first type of a category is its default. */
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
/** The name of a category, built-in or added to `TaffrailCategories`. */
type Category = keyof Categories & string;
/** The types of a category. */
type CategoryType<C extends Category> = Categories[C] & string;
/**
 * The member name of a built-in type: `tool-call` is `logger.ai.toolCall`. Types of the application keep their names.
 */
type CamelCase<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : S;
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
type LogData = object;
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
interface LogMethod {
  (message: string | Error, data?: LogData): void;
  (data: LogData, message: string): void;
}
/** The lowest level that is logged, or `silent` to log nothing. */
type LevelSetting = LogLevel | "silent";
/** Level names of other loggers: `warning` logs at `warn`, `notice` at `info`, `critical` at `fatal`. */
type LevelAlias = "warning" | "notice" | "critical";
/** One method per type of a category. Types named like a level log at that level, all others at `info`. */
type CategoryScope<C extends Category> = string extends CategoryType<C> ? {
  readonly [type: string]: LogMethod;
} : { readonly [T in CategoryType<C> as C extends keyof BuiltInCategories ? CamelCase<T> : T]: LogMethod; };
/** An entry as the client sends it. */
interface LogEntry {
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
interface FlushResult {
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
interface LoggerStats {
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
interface Explanation {
  sent: boolean;
  step: "level" | "category" | "sampling" | "beforeSend" | "transport";
  reason: string;
}
type Scopes = { readonly [C in Exclude<Category, keyof LoggerMethods>]: CategoryScope<C>; };
/** The methods of a logger. Categories are members too: `logger.http.request("GET /")`. */
interface LoggerMethods {
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
  flush(options?: {
    timeoutMs?: number;
  }): Promise<FlushResult>;
  /**
   * Flushes, and drops every entry that is logged later.
   * @example
   * await logger.close();
   */
  close(options?: {
    timeoutMs?: number;
  }): Promise<FlushResult>;
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
type Aliases = { readonly [A in Exclude<LevelAlias, Category>]: LogMethod; };
/** A logger: its methods, and a member for each category. */
type Logger = LoggerMethods & Aliases & Scopes;
export { BuiltInCategories, Category, CategoryScope, CategoryType, Explanation, FlushResult, LevelSetting, LogData, LogEntry, LogLevel, LogMethod, Logger, LoggerMethods, LoggerStats, TaffrailCategories };

// dist/node/spool.d.mts
/** Where deliveries are stored on disk, and how many bytes. */
interface SpoolOptions {
  /**
   * Directory of the files. It must belong to the user of the process.
   * @default a directory in the system's temporary one, per user, service and project
   */
  dir?: string;
  /**
   * Bytes that the directory may hold. Deliveries that do not fit are dropped.
   * @default 67108864
   */
  maxBytes?: number;
}
export { SpoolOptions };

// dist/capture/options.d.mts
/** What a server adapter captures of each request. The options are the same for all adapters. */
interface CaptureOptions {
  /**
   * Whether an entry `http/request` is logged when a request begins.
   * @default true
   */
  requests?: boolean;
  /**
   * Whether an entry `http/response` is logged when a response has ended.
   * @default true
   */
  responses?: boolean;
  /**
   * Whether an entry `system/error` is logged when a handler throws.
   * @default true
   */
  errors?: boolean;
  /**
   * Paths without entries: whole paths or patterns.
   * @default ["/health", "/ready", "/favicon.ico"]
   */
  excludePaths?: readonly (string | RegExp)[];
  /**
   * Methods without entries.
   * @default ["OPTIONS"]
   */
  excludeMethods?: readonly string[];
  /**
   * Whether the request's entry has its headers.
   * @default true
   */
  headers?: boolean;
  /**
   * Headers whose values are masked, in addition to `authorization`, `cookie` and `x-api-key`.
   * @default []
   */
  redactHeaders?: readonly string[];
  /**
   * Members of bodies and query parameters that are masked, in addition to `password`, `token` and `secret`.
   * @default []
   */
  redactFields?: readonly string[];
  /**
   * Whether the request's entry has its query parameters.
   * @default true
   */
  query?: boolean;
  /**
   * Whether the entries have the bodies of requests and responses that are text (JSON, forms, `text/*`).
   * @default false
   */
  body?: boolean;
  /**
   * Bytes of a captured body, 0 to 131,072.
   * @default 32768
   */
  maxBodySize?: number;
  /**
   * Response header with the milliseconds until the response began; `false` sets no header.
   * @default "X-Response-Time"
   */
  timingHeader?: string | false;
}
export { CaptureOptions };

// dist/adapters/web-handler.d.mts
import { IncomingMessage, ServerResponse } from "node:http";
/** A request of Node or Express. Express computes `ip` by its setting of trusted proxies. */
type NodeRequest = IncomingMessage & {
  originalUrl?: string;
  ip?: string | undefined;
  body?: unknown;
};
/**
 * Serves a handler of web-standard `Request` and `Response`, like that of `taffrail/proxy`, in Express, Connect or
 * Node. The client IP comes from Express or the socket, never from a header that the client could have set.
 * @example
 * import express from "express";
 * import { webHandler } from "taffrail/express";
 * import { createProxy } from "taffrail/proxy";
 *
 * const app = express();
 * app.all("/logs", webHandler(createProxy({ apiUrl, projectId, apiKey })));
 */
declare function webHandler(handler: (request: Request) => Promise<Response>): (request: NodeRequest, response: ServerResponse, next?: (error: unknown) => void) => void;
export { webHandler };

// dist/browser/options.d.mts
import { BatchOptions, DropReason, SamplingOptions } from "../logger-options.mjs";
import { Category, LevelSetting, LogEntry } from "../types.mjs";
/** Options of a page's logger. Like the options of `createLogger` in `taffrail`, unless stated otherwise. */
interface BrowserLoggerOptions {
  /**
   * URL of the route with `taffrail/proxy` on the application's server, which holds the key. A page must not have a
   * key.
   */
  url: string;
  /**
   * The lowest level that is logged; `logger.level` changes it later.
   * @default "info"
   */
  level?: LevelSetting;
  /**
   * Name of the application, `service` in the `data` of every entry.
   * @default none
   */
  service?: string;
  /**
   * Version of the application, `version` in `data`.
   * @default none
   */
  version?: string;
  /**
   * Environment of the application, like `production`: `environment` in `data`.
   * @default none
   */
  environment?: string;
  /**
   * Whether uncaught errors and unhandled rejections are logged too, with level `error`, category `system` and type
   * `error`.
   * @default false
   */
  captureErrors?: boolean;
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
   * Which share of the entries is sent. Decided once for the session, so that it is kept or left out as a whole.
   * @default { rate: 1 }
   */
  sampling?: SamplingOptions;
  /**
   * Fields of every entry.
   * @default {}
   */
  defaultMeta?: object;
  /**
   * Session of the entries.
   * @default a random id per tab, in `sessionStorage`
   */
  sessionId?: string;
  /**
   * Called with each redacted entry before it is queued. Returns the entry to send, which is redacted again, or `null`
   * to leave it out. If it throws, the entry is dropped.
   * @default none
   */
  beforeSend?: (entry: LogEntry) => LogEntry | null;
  /**
   * Called with each delivery error. Without it, the first error is reported on the console; without `onDrop`, the first
   * dropped entries if they come before any error.
   * @default none
   */
  onError?: (error: Error) => void;
  /**
   * Called with dropped entries, redacted, and the reason.
   * @default none
   */
  onDrop?: (entries: LogEntry[], reason: DropReason) => void;
  /**
   * Whether the library reports its errors and drops on the console.
   * @default false
   */
  debug?: boolean;
  /**
   * Delivery options. `maxQueueBytes` is 1,048,576 by default, because the queue is also stored in `localStorage`.
   * @default {}
   */
  batch?: Pick<BatchOptions, "size" | "flushInterval" | "maxRetries" | "backoff" | "backoffBase" | "maxQueueBytes">;
  /**
   * Additional member names whose values are masked, in any spelling.
   * @default []
   */
  redact?: readonly string[];
}
export { BrowserLoggerOptions };

// dist/proxy/options.d.mts
import { RateLimit } from "./limit.mjs";
/**
 * Where a proxy forwards entries, and which requests it accepts.
 *
 * A build (Next) evaluates routes without their environment, so `apiUrl`, `projectId` and `apiKey` may be `undefined`
 * at construction; then every request fails.
 */
interface ProxyOptions {
  /** URL of the service, like `https://logs.example.com`. */
  apiUrl: string | undefined;
  /** Project that receives the entries. */
  projectId: string | undefined;
  /** An API key with the scope `logs:write`. It never leaves the server. */
  apiKey: string | undefined;
  /**
   * Origins that may send, like `https://shop.example`, or a function that decides.
   * @default the origins of the host that the request names
   */
  origins?: readonly string[] | ((origin: string, request: Request) => boolean);
  /**
   * Maximal bytes of a request body, 1 to 5,242,880.
   * @default 65536
   */
  maxBytes?: number;
  /**
   * Maximal entries of a request, 1 to 1,000.
   * @default 500
   */
  maxEntries?: number;
  /**
   * Members of `data` that are forwarded.
   * @default all members
   */
  dataFields?: readonly string[];
  /**
   * Requests per minute of one client IP and of all clients together, counted in this process; `false` for no limit. Or
   * a function that decides, for example by a store that several processes share. If it throws, the request passes.
   * @default { perAddress: 120, total: 6000 }
   */
  rateLimit?: {
    perAddress?: number;
    total?: number;
  } | false | RateLimit;
  /**
   * Returns the client IP of a request.
   * @default `CF-Connecting-IP`, else the first address of `X-Forwarded-For`
   */
  clientAddress?: (request: Request) => string | undefined;
  /**
   * Called with errors between the proxy and the service, which browsers do not see.
   * @default reports the first error on the console
   */
  onError?: (error: Error) => void;
  /**
   * Milliseconds after which a request to the service has failed, 1 to 3,600,000.
   * @default 10000
   */
  timeout?: number;
  /**
   * Function that sends the requests to the service.
   * @default globalThis.fetch
   */
  fetch?: typeof fetch;
}
export { ProxyOptions };

// dist/proxy/limit.d.mts
/** Returns whether a request of this client IP may pass. `address` is `undefined` if the client IP is unknown. */
type RateLimit = (address: string | undefined, request: Request) => boolean | Promise<boolean>;
export { RateLimit };
