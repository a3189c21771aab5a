import { checkPageNames } from "#names";
import { serialized } from "../data.ts";
import { LEVELS } from "../levels.ts";
import { createRedactor } from "../redact.ts";
import { asError, bytesOf, isError } from "../safe.ts";
import { activeSpan, traceIds, unitHash } from "../trace.ts";
import type {
  BatchOptions,
  Category,
  ChildOptions,
  DropReason,
  Explanation,
  LevelSetting,
  LogEntry,
  Logger,
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

/** By severity, and then what closes all of them. */
const SETTINGS: readonly LevelSetting[] = [...LEVELS, "silent"];

/** What some loggers share. */
interface Gate {
  lowest: number;
}

type Named = Record<string, unknown>;

/** What a page logs with: a `Logger`, whose `entries` is empty. */
export type BrowserLogger = Logger;

/** Fields of `withContext`, for all loggers of the page: while `work` runs, up to its first `await`. */
let context: Named = {};

/**
 * A logger for pages: what is logged arrives also when the page closes at once, or is offline. Where a server renders
 * the page there is none, and the logger does nothing.
 * @throws TypeError for options that are wrong; no method of the logger ever throws
 */
export function createLogger(options: BrowserLoggerOptions): BrowserLogger {
  // From JavaScript it may be called with nothing.
  const { url, level = "info", batch = {}, sampling = {}, categories, excludeCategories } = options ?? {};
  if (typeof url !== "string") throw new TypeError("taffrail: missing url, the route of taffrail/proxy");
  checkPageNames(options);
  const { beforeSend, onError, onDrop, debug, redact = [], service, version, environment, captureErrors } = options;
  const hasPage = typeof document !== "undefined";
  const { sessionId = hasPage ? sessionOf() : "" } = options;
  const gate = { lowest: lowestOf(level) };
  const clean = createCleaner(createRedactor(redact));
  const counts = {
    logged: 0,
    sampledOut: 0,
    filtered: 0,
    delivered: 0,
    dropped: 0,
    requests: 0,
    retries: 0,
    spooled: 0,
  };
  let isClosed = false;

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

  let isToldOnce = !onError && !debug;
  function report(failure: unknown): void {
    const error = asError(failure);
    if (isToldOnce) console.warn(`taffrail: ${error.message}`);
    isToldOnce = false;
    quietly(() => called(() => onError?.(error)), error);
  }
  const { push, drop, stats, flush } = createSender(hasPage, url, batch, counts, report, (lines, reason) =>
    quietly(() => called(() => onDrop?.(lines.map(parsed), reason)), `${lines.length} dropped: ${reason}`),
  );

  const close: LoggerMethods["close"] = (limits) => {
    isClosed = true;
    return flush(limits);
  };
  const shared = {
    flush,
    close,
    stats,
    entries: [],
    withContext<T>(fields: object, work: () => T): T {
      const outer = context;
      context = { ...outer, ...fieldsOf(fields) };
      try {
        return work();
      } finally {
        context = outer;
      }
    },
    [Symbol.asyncDispose ?? "asyncDispose"]: close,
  };
  const root = fieldsOf({ service, version, environment, ...options.defaultMeta });

  function fieldsOf(fields: object): Named {
    // SAFETY: what `clean` makes of an object is a plain one.
    const { traceparent, ...rest } = clean(fields) as Named;
    return { ...rest, ...traceIds(traceparent) };
  }

  /**
   * @returns the one it was for a name that is no level
   * @throws TypeError for such a name where there was none
   */
  function lowestOf(level: unknown, before?: number): number {
    // SAFETY: what is no level is not found.
    const lowest = SETTINGS.indexOf(level as LevelSetting);
    if (lowest >= 0) return lowest;
    const error = new TypeError(`taffrail: level must be one of ${SETTINGS}`);
    if (before === undefined) throw error;
    report(error);
    return before;
  }

  /** @param isOwner whether the gate is of this logger, and not of the one it was made from */
  function build(
    category: string,
    type: string | undefined,
    own: Named,
    gate: Gate,
    serializers: ChildOptions["serializers"],
    isOwner: boolean,
  ): BrowserLogger {
    const has = (list: readonly string[] | null | undefined): boolean | undefined => list?.includes(category);
    const { session = sessionId } = { ...root, ...own };
    const draw = unitHash(`${session}`);
    const isWanted = has(categories) !== false && !has(excludeCategories);
    const rateOf = (name: LogLevel): number => sampling.overrides?.[name] ?? sampling.rate ?? 1;
    const logger: Record<string, unknown> = {
      __proto__: prototype,
      ...shared,
      sessionId: session,
      // Without a type the service takes the category's first.
      category: (name: string, kind?: string) => build(name, kind, own, gate, serializers, false),
      child(fields: object, { level, serializers: more }: ChildOptions = {}) {
        const mine = level ? { lowest: lowestOf(level, gate.lowest) } : gate;
        return build(
          category,
          type,
          { ...own, ...fieldsOf(fields) },
          mine,
          more ? { ...serializers, ...more } : serializers,
          !!level,
        );
      },
      explain,
      silent() {},
      get level() {
        return SETTINGS[gate.lowest];
      },
      set level(level: unknown) {
        const lowest = lowestOf(level, gate.lowest);
        if (isOwner) gate.lowest = lowest;
        else gate = { lowest };
        isOwner = true;
      },
      isLevelEnabled: (name: LogLevel) => isOpen(LEVELS.indexOf(name)) && draw < rateOf(name),
    };
    const isOpen = (severity: number): boolean => hasPage && isWanted && severity >= gate.lowest;
    LEVELS.forEach((name, severity) => {
      logger[name] = (message: unknown, data: unknown) => {
        if (!isOpen(severity)) return;
        if (draw >= rateOf(name)) counts.sampledOut++;
        else quietly(() => write(name, message, data));
      };
    });

    function entryOf(level: LogLevel, message: unknown, data: unknown): object {
      const isNamed = isError(message);
      const fields = clean(isError(data) ? { [isNamed ? "error2" : "error"]: data } : serialized(data, serializers));
      const span = activeSpan();
      // SAFETY: what `clean` makes of an object is a plain one.
      const {
        session: mine = session,
        traceId,
        spanId,
        ...rest
      } = {
        url: clean(location.href),
        ...root,
        ...context,
        ...own,
        // SAFETY: as above.
        ...(isNamed && (clean({ error: message }) as object)),
        ...(Array.isArray(fields) || typeof (fields ?? {}) !== "object" ? { value: fields } : (fields as object)),
      } as Named;
      const text = clean(isNamed ? message.message : message);
      return {
        timestamp: new Date(),
        level,
        category,
        type,
        message: (typeof text === "object" ? JSON.stringify(text) : `${text}`) || "(no message)",
        session: mine,
        traceId: span?.traceId ?? traceId,
        spanId: span?.spanId ?? spanId,
        data: rest,
      };
    }

    function write(level: LogLevel, message: unknown, data: unknown): void {
      // Pino's order.
      if (typeof data === "string" && typeof message === "object") [message, data] = [data, message];
      let entry: unknown = entryOf(level, message, data);
      let line = JSON.stringify(entry);
      try {
        if (beforeSend) entry = hooked(line);
      } catch (error) {
        // It may be what keeps private data back.
        report(error);
        drop([line], "before-send");
        return;
      }
      if (!entry) {
        counts.filtered++;
        return;
      }
      line = JSON.stringify(entry);
      if (bytesOf(line) > MAX_ENTRY) line = JSON.stringify({ ...entry, data: { "[Truncated]": true } });
      if (isClosed) drop([line], "closed");
      else {
        counts.logged++;
        push(`${line}\n`);
      }
    }

    function explain(level: LogLevel, message = "", data?: object): Explanation {
      const rate = rateOf(level);
      const told = (step: Explanation["step"], reason: string, sent = false): Explanation => ({ sent, step, reason });
      if (LEVELS.indexOf(level) < gate.lowest) return told("level", `below ${SETTINGS[gate.lowest]}`);
      if (!isWanted) return told("category", category);
      if (draw >= rate) return told("sampling", `rate ${rate}`);
      if (!hasPage) return told("transport", "there is no page");
      try {
        const isKept = !beforeSend || hooked(JSON.stringify(entryOf(level, message, data)));
        return isKept ? told("transport", `rate ${rate}`, true) : told("beforeSend", "returned null");
      } catch (error) {
        return told("beforeSend", `threw ${error}`);
      }
    }

    // SAFETY: it has all levels now, and scopes are the prototype's.
    return logger as unknown as BrowserLogger;
  }

  /** What the hook makes of an entry; what it puts in is masked as well. @throws what the hook throws */
  function hooked(line: string): unknown {
    return clean(called(() => beforeSend?.(parsed(line))));
  }

  /** No call throws, whatever it is given and whatever a callback does. @param what of it is told in `debug` */
  function quietly(work: () => void, what?: unknown): void {
    try {
      if (debug && what) console.warn("taffrail:", what);
      work();
    } catch (error) {
      if (debug) console.warn("taffrail:", error);
    }
  }

  const logger = build("custom", "log", {}, gate, undefined, true);
  if (captureErrors && hasPage) {
    const { error: log } = logger.category("system", "error");
    addEventListener("error", ({ message, error, filename, lineno, colno }) =>
      log(message, { error, at: `${filename}:${lineno}:${colno}` }),
    );
    addEventListener("unhandledrejection", ({ reason }) =>
      log(`Unhandled rejection: ${asError(reason).message}`, { error: reason }),
    );
  }
  return logger;
}

function parsed(json: string): LogEntry {
  return JSON.parse(json);
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
