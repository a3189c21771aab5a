import { Writable } from "node:stream";
import type { Logger, LogLevel } from "../types.ts";

/** Winston's own levels and those of syslog; what is neither counts as `info`. */
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
/** Where winston keeps the level that no format can change. */
const LEVEL = Symbol.for("level");

/** What winston knows of any transport. */
export interface WinstonOptions {
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

interface Parent {
  levels: Record<string, number>;
  level?: string;
}

/**
 * A transport for winston 3: `winston.createLogger({ transports: [new TaffrailTransport(logger)] })`. Winston decides
 * by its own level first; give the logger the level `trace` to have all of that.
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
    // SAFETY: what pipes into a transport is a winston logger.
    this.once("pipe", (parent) => {
      this.#parent = parent as unknown as Parent;
    });
  }

  /** Winston asks for this method to know a transport by. */
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
    // A logged error is spread over the entry itself; `cause` is no enumerable member of it.
    const error = info instanceof Error ? info : typeof stack === "string" ? { message, stack } : undefined;
    const text = typeof message === "string" ? message : message instanceof Error ? message.message : String(message);
    logger[name](text, error ? { ...data, error } : message instanceof Error ? { ...data, error: message } : data);
  }
}
