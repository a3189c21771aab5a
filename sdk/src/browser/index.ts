import { createRedactor } from "../redact.ts";
import { bytesOf, isError } from "../safe.ts";
import { unitHash } from "../trace.ts";
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
import { randomId } from "./page.ts";
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
  const { url, level = "info", batch = {}, sampling = {}, categories, excludeCategories } = options;
  const {
    beforeSend,
    onError,
    onDrop,
    debug,
    defaultMeta = {},
    redact = [],
    sessionId: session = sessionOf(),
  } = options;
  const lowest = LEVELS.indexOf(level);
  if (typeof url !== "string" || lowest < 0) throw new TypeError("taffrail: wrong url or level");
  const clean = createCleaner(createRedactor(redact));
  const draw = unitHash(session);

  const sender = createSender(
    url,
    batch,
    (error) => quietly(() => onError?.(error), error),
    (lines, reason) =>
      quietly(() => {
        onDrop?.(
          lines.map((line) => JSON.parse(line)),
          reason,
        );
      }, `${lines.length} dropped: ${reason}`),
  );

  function build(category: string, type: string | undefined, own: object): BrowserLogger {
    const has = (list: readonly string[] | null | undefined): boolean | undefined => list?.includes(category);
    const isWanted = has(categories) !== false && !has(excludeCategories);
    const logger = Object.create(prototype);
    LEVELS.forEach((name, severity) => {
      const isLogged = isWanted && severity >= lowest && draw < (sampling.overrides?.[name] ?? sampling.rate ?? 1);
      logger[name] = isLogged
        ? (message: unknown, data: unknown) => quietly(() => write(name, message, data))
        : () => {};
    });
    function write(level: LogLevel, message: unknown, data: unknown): void {
      const isNamed = isError(message);
      const fields = clean(isError(data) ? { error: data } : data);
      // SAFETY: what `clean` makes of an object is a plain one.
      const {
        session: mine = session,
        traceId,
        spanId,
        ...rest
      } = {
        ...own,
        // SAFETY: as above.
        ...(isNamed && (clean({ error: message }) as object)),
        ...(typeof fields === "object" || fields === undefined ? fields : { value: fields }),
      } as Record<string, unknown>;
      const text = clean(isNamed ? message.message : message);
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

  /** No call throws, whatever it is given and whatever a callback does. @param what of it is told in `debug` */
  function quietly(work: () => void, what?: unknown): void {
    const tell = (what: unknown): void => {
      if (debug && what) console.warn("taffrail:", what);
    };
    tell(what);
    try {
      work();
    } catch (error) {
      tell(error);
    }
  }

  // SAFETY: what `clean` makes of an object is a plain one.
  return build("custom", "log", clean(defaultMeta) as object);
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
