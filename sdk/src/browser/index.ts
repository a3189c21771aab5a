import { createRedactor } from "../redact.ts";
import type {
  BatchOptions,
  Category,
  CategoryScope,
  CategoryType,
  DropReason,
  FlushResult,
  LogEntry,
  LoggerMethods,
  LogLevel,
  SamplingOptions,
} from "../types.ts";
import { createCleaner } from "./clean.ts";
import { bytesOf, randomId } from "./page.ts";
import { LEVELS, prototype } from "./scopes.ts";
import { createSender } from "./sender.ts";

export type * from "../types.ts";

/** Bytes of one entry: it has to fit into a request that outlives the page. */
const MAX_ENTRY = 50_000;
const FLUSH_MS = 10_000;

/** Options of a page's logger. What is not said here is as in `createLogger` of `taffrail`. */
export interface BrowserLoggerOptions {
  /** The route of `taffrail/proxy` on the application's own server. No key is needed here, and none may be. */
  url: string;
  /** The lowest level that is logged, default `info`. */
  level?: LogLevel;
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
  /** Gets what goes wrong in delivery. */
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

/** What a page logs with. */
export type BrowserLogger = Pick<LoggerMethods, LogLevel | "sessionId"> & {
  /** A logger whose entries have this category and type. */
  category<C extends Category>(category: C, type?: CategoryType<C>): BrowserLogger;
  /** A logger whose entries have these fields too. */
  child(fields: object): BrowserLogger;
  /** Sends what waits. Always settles, after `timeoutMs` (default 10,000) at the latest; never rejects. */
  flush(options?: { timeoutMs?: number }): Promise<FlushResult>;
  /** Since the page was opened. */
  stats(): FlushResult;
} & { readonly [C in Exclude<Category, LogLevel>]: CategoryScope<C> };

/**
 * A logger for pages: what is logged arrives also when the page closes at once, or is offline.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
export function createLogger(options: BrowserLoggerOptions): BrowserLogger {
  const { url, level = "info", batch = {}, sampling = {} } = options;
  const allowed: readonly string[] | null | undefined = options.categories;
  const denied: readonly string[] | null | undefined = options.excludeCategories;
  const { beforeSend, onError, onDrop, debug, defaultMeta = {}, redact = [] } = options;
  const { size = 50, flushInterval = 5000, maxRetries = 3, backoffBase = 1000, backoff = "exponential" } = batch;
  const { maxQueueBytes = 1_048_576 } = batch;
  const lowest = LEVELS.indexOf(level);
  const numbers = [size, flushInterval, maxRetries, backoffBase, maxQueueBytes, sampling.rate ?? 1];
  if (typeof url !== "string" || lowest < 0 || !numbers.every((number) => number >= 0)) {
    throw new TypeError("taffrail: url, level, or a number is wrong");
  }
  const clean = createCleaner(createRedactor("", redact));
  const session = options.sessionId ?? sessionOf();
  const draw = drawOf(session);

  function error(error: Error): void {
    if (debug) console.warn("taffrail:", error);
    quietly(() => onError?.(error));
  }

  const sender = createSender({
    url,
    size,
    flushInterval,
    maxRetries,
    maxQueueBytes,
    error,
    wait(retry) {
      if (typeof backoff === "function") return backoff(retry);
      const step = backoff === "fixed" ? 1 : backoff === "linear" ? retry : 2 ** (retry - 1);
      return backoffBase * step * (1 + Math.random());
    },
    drop(lines, reason) {
      if (debug) console.warn(`taffrail: ${lines.length} dropped (${reason})`);
      quietly(() =>
        onDrop?.(
          lines.map((line) => JSON.parse(line)),
          reason,
        ),
      );
    },
  });

  function build(category: string, type: string | undefined, own: object): BrowserLogger {
    const isWanted = (!allowed || allowed.includes(category)) && !denied?.includes(category);
    const logger = Object.create(prototype);
    LEVELS.forEach((name, severity) => {
      const isLogged = isWanted && severity >= lowest && draw < (sampling.overrides?.[name] ?? sampling.rate ?? 1);
      logger[name] = isLogged
        ? (message: unknown, data: unknown) => quietly(() => write(name, message, data))
        : () => {};
    });
    function write(level: LogLevel, message: unknown, data: unknown): void {
      const isError = message instanceof Error;
      const fields = clean(data instanceof Error ? { error: data } : data);
      // SAFETY: what `clean` makes of an object is a plain one.
      const {
        session: mine = session,
        traceId,
        spanId,
        ...rest
      } = {
        ...own,
        ...(isError ? (clean({ error: message }) as object) : {}),
        ...(typeof fields === "object" || fields === undefined ? fields : { value: fields }),
      } as Record<string, unknown>;
      const text = clean(isError ? message.message : message);
      let entry: unknown = {
        timestamp: new Date(),
        level,
        category,
        type,
        message: (typeof text === "object" ? JSON.stringify(text) : `${text}`) || "(no message)",
        session: mine,
        traceId,
        spanId,
        data: rest,
      };
      // What a hook puts in is masked as well.
      if (beforeSend) entry = clean(beforeSend(JSON.parse(JSON.stringify(entry))));
      if (!entry) return;
      let line = JSON.stringify(entry);
      if (bytesOf(line) > MAX_ENTRY) line = JSON.stringify({ ...entry, data: { "[Truncated]": true } });
      sender.push(`${line}\n`);
    }
    return Object.assign(logger, {
      sessionId: session,
      // Without a type the service takes the category's first.
      category: (name: string, kind?: string) => build(name, kind, own),
      // SAFETY: what `clean` makes of an object is a plain one.
      child: (fields: object) => build(category, type, { ...own, ...(clean(fields) as object) }),
      stats: sender.stats,
      flush: ({ timeoutMs = FLUSH_MS } = {}) => sender.flush(timeoutMs),
    });
  }

  /** No call throws, whatever it is given and whatever a callback does. */
  function quietly(work: () => void): void {
    try {
      work();
    } catch (cause) {
      if (debug) console.warn("taffrail:", cause);
    }
  }

  // SAFETY: what `clean` makes of an object is a plain one.
  return build("custom", "log", clean(defaultMeta) as object);
}

/** 0 to 1, the same for the same text. */
function drawOf(text: string): number {
  let hash = 1;
  for (const letter of `${text}${text}`) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x9e3779b1);
  return (hash >>> 0) / 2 ** 32;
}

/** One for the tab, over all its pages; for this page alone where nothing can be stored. */
function sessionOf(): string {
  const made = randomId();
  try {
    sessionStorage.taffrail ??= made;
    return sessionStorage.taffrail;
  } catch {
    return made;
  }
}
