import { Writable } from "node:stream";
import type { Logger, LogLevel } from "../types.ts";

/** Levels of winston and syslog. Other levels count as `info`. */
const LEVELS: Readonly<Record<string, LogLevel>> = {
  error: "error",
  warn: "warn",
  info: "info",
  http: "log",
  verbose: "debug",
  debug: "debug",
  silly: "trace",
  emerg: "fatal",
  alert: "fatal",
  crit: "error",
  warning: "warn",
  notice: "info",
  fatal: "fatal",
  trace: "trace",
};
/** The member with winston's original level, which formats do not change. */
const LEVEL = Symbol.for("level");

/** The options that winston defines for every transport. */
export interface WinstonOptions {
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

interface Parent {
  levels: Record<string, number>;
  level?: string;
}

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
export class TaffrailTransport extends Writable {
  level?: string;
  silent: boolean;
  handleExceptions: boolean;
  handleRejections: boolean;
  readonly #logger: Logger;
  #parent: Parent | undefined;

  constructor(logger: Logger, options: WinstonOptions = {}) {
    super({ objectMode: true });
    this.#logger = logger;
    if (options.level !== undefined) this.level = options.level;
    this.silent = options.silent ?? false;
    this.handleExceptions = options.handleExceptions ?? false;
    this.handleRejections = options.handleRejections ?? false;
    // SAFETY: only winston loggers pipe into a transport.
    this.once("pipe", (parent) => {
      this.#parent = parent as unknown as Parent;
    });
  }

  /** Logs one entry. Winston recognizes a transport by this method. */
  log(info: Info, done: () => void): void {
    this.#take(info);
    done();
  }

  override _write(info: Info, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.#isWanted(info)) this.#take(info);
    done();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#logger.flush().then(() => done());
  }

  #isWanted(info: Info): boolean {
    if (this.silent || (info.exception === true && !this.handleExceptions)) return false;
    const { levels, level = undefined } = this.#parent ?? {};
    const lowest = this.level ?? level;
    const own = levels?.[String(info[LEVEL])];
    const limit = lowest === undefined ? undefined : levels?.[lowest];
    return own === undefined || limit === undefined || own <= limit;
  }

  #take(info: Info): void {
    const { level, message, timestamp: _stamped, stack, traceId, spanId, session, ...data } = info;
    const name = LEVELS[String(info[LEVEL] ?? level)] ?? "info";
    const ids = Object.entries({ traceId, spanId, session }).filter(([, id]) => typeof id === "string");
    const logger = ids.length > 0 ? this.#logger.child(Object.fromEntries(ids)) : this.#logger;
    // Winston spreads a logged error over the entry; `cause` is not enumerable.
    const error = info instanceof Error ? info : typeof stack === "string" ? { message, stack } : undefined;
    const text = typeof message === "string" ? message : message instanceof Error ? message.message : String(message);
    logger[name](text, error ? { ...data, error } : message instanceof Error ? { ...data, error: message } : data);
  }
}
