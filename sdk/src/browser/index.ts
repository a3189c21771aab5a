import { LEVELS } from "../levels.ts";
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
import { MAX_ENTRY } from "./limits.ts";
import { randomId } from "./page.ts";
import { prototype } from "./scopes.ts";
import { createSender } from "./sender.ts";

export type * from "../types.ts";

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

type Named = Record<string, unknown>;

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
  const { beforeSend, onError, onDrop, debug, defaultMeta = {}, redact = [], sessionId = sessionOf() } = options;
  const lowest = LEVELS.indexOf(level);
  if (typeof url !== "string" || lowest < 0) throw new TypeError("taffrail: wrong url or level");
  const clean = createCleaner(createRedactor(redact));

  let isInside = false;
  /** What a callback logs calls none: else one that tells of a full queue would fill it. @returns null instead */
  function called<T>(callback: () => T): T | null {
    if (isInside) return null;
    isInside = true;
    try {
      return callback();
    } finally {
      isInside = false;
    }
  }

  const report = (error: unknown): void =>
    quietly(() => called(() => onError?.(isError(error) ? error : new Error(`${error}`))), error);
  const { push, drop, ...shared } = createSender(url, batch, report, (lines, reason) =>
    quietly(
      () =>
        called(() =>
          onDrop?.(
            lines.map((line) => JSON.parse(line)),
            reason,
          ),
        ),
      `${lines.length} dropped: ${reason}`,
    ),
  );

  function build(category: string, type: string | undefined, own: Named): BrowserLogger {
    const has = (list: readonly string[] | null | undefined): boolean | undefined => list?.includes(category);
    const { session = sessionId } = own;
    const draw = unitHash(`${session}`);
    const isWanted = has(categories) !== false && !has(excludeCategories);
    const logger: Record<string, unknown> = {
      __proto__: prototype,
      ...shared,
      sessionId: session,
      // Without a type the service takes the category's first.
      category: (name: string, kind?: string) => build(name, kind, own),
      // SAFETY: what `clean` makes of an object is a plain one.
      child: (fields: object) => build(category, type, { ...own, ...(clean(fields) as object) }),
    };
    LEVELS.forEach((name, severity) => {
      const isLogged = isWanted && severity >= lowest && draw < (sampling.overrides?.[name] ?? sampling.rate ?? 1);
      logger[name] = isLogged
        ? (message: unknown, data: unknown) => quietly(() => write(name, message, data))
        : () => {};
    });
    function write(level: LogLevel, message: unknown, data: unknown): void {
      const isNamed = isError(message);
      const fields = clean(isError(data) ? { [isNamed ? "error2" : "error"]: data } : data);
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
        ...(Array.isArray(fields) || typeof (fields ?? {}) !== "object" ? { value: fields } : (fields as object)),
      } as Named;
      const text = clean(isNamed ? message.message : message);
      let entry: object = {
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
      let line = JSON.stringify(entry);
      if (beforeSend) {
        try {
          // What a hook puts in is masked as well.
          // SAFETY: whatever it is, it is only written.
          entry = clean(called(() => beforeSend(JSON.parse(line)))) as object;
        } catch (error) {
          // It may be what keeps private data back.
          report(error);
          drop([line], "before-send");
          return;
        }
        if (!entry) return;
        line = JSON.stringify(entry);
      }
      if (bytesOf(line) > MAX_ENTRY) line = JSON.stringify({ ...entry, data: { "[Truncated]": true } });
      push(`${line}\n`);
    }
    // SAFETY: it has all levels now, and scopes are the prototype's.
    return logger as unknown as BrowserLogger;
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
  return build("custom", "log", clean(defaultMeta) as Named);
}

/** One for the tab, over all its pages; for this page alone where nothing can be stored. */
function sessionOf(): string {
  try {
    sessionStorage.taffrail ??= randomId();
    return sessionStorage.taffrail;
  } catch {
    return randomId();
  }
}
