import { checkPageNames } from "#names";
import { serialized } from "../data.ts";
import { LEVELS } from "../levels.ts";
import type { ChildOptions } from "../logger-options.ts";
import { createRedactor } from "../redact.ts";
import { asError, bytesOf, isError } from "../safe.ts";
import { activeSpan, traceIds, unitHash } from "../trace.ts";
import type { Explanation, LevelSetting, LogEntry, Logger, LoggerMethods, LogLevel } from "../types.ts";
import { createCleaner } from "./clean.ts";
import { MAX_ENTRY } from "./limits.ts";
import type { BrowserLoggerOptions } from "./options.ts";
import { logUncaught, tabSession } from "./page.ts";
import { prototype } from "./scopes.ts";
import { createSender } from "./sender.ts";

export type * from "../logger-options.ts";
export type * from "../types.ts";
export type { BrowserLoggerOptions } from "./options.ts";

/** The settings of `level` by lowest severity; `silent` is 7. */
const SETTINGS: readonly LevelSetting[] = [...LEVELS, "silent"];

/** The lowest enabled severity of a family of loggers. */
interface LevelSwitch {
  lowest: number;
}

type Named = Record<string, unknown>;

/** The logger of a page: a `Logger` whose `entries` is empty. */
export type BrowserLogger = Logger;

/** Fields of the current `withContext`, for all loggers of the page. They apply up to the first `await` of `work`. */
let context: Named = {};

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
export function createLogger(options: BrowserLoggerOptions): BrowserLogger {
  // JavaScript code may call it without options.
  const { url, level = "info", batch = {}, sampling = {}, categories, excludeCategories } = options ?? {};
  if (typeof url !== "string") throw new TypeError("taffrail: missing url, the route of taffrail/proxy");
  checkPageNames(options);
  const { beforeSend, onError, onDrop, debug, redact = [], service, version, environment, captureErrors } = options;
  const hasPage = typeof document !== "undefined";
  const { sessionId = hasPage ? tabSession() : "" } = options;
  const levels = { lowest: lowestOf(level) };
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
  /**
   * Calls a callback, but not from within a callback: entries logged in `onDrop` could fill the queue again and
   * recurse.
   * @returns `null` if the callback was not called
   */
  function withoutReentry<T>(callback: () => T): T | null {
    if (isInside) return null;
    isInside = true;
    try {
      return callback();
    } finally {
      isInside = false;
    }
  }

  let isReportDue = !onError && !debug;
  function report(failure: unknown): void {
    const error = asError(failure);
    if (isReportDue) console.warn("taffrail:", error.message);
    isReportDue = false;
    quietly(() => withoutReentry(() => onError?.(error)), error);
  }
  const { push, drop, stats, flush } = createSender(hasPage, url, batch, counts, report, (lines, reason) => {
    const text = `${lines.length} dropped: ${reason}`;
    if (onDrop || onError) quietly(() => withoutReentry(() => onDrop?.(lines.map(parsed), reason)), text);
    else report(text);
  });

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
    // SAFETY: `clean` returns a plain object for an object.
    const { traceparent, ...rest } = clean(fields) as Named;
    return { ...rest, ...traceIds(traceparent) };
  }

  /**
   * Returns the lowest severity of a level setting, or `before` for an unknown level name.
   * @throws TypeError for an unknown level name without `before`
   */
  function lowestOf(level: unknown, before?: number): number {
    // SAFETY: `indexOf` returns -1 for other values.
    const lowest = SETTINGS.indexOf(level as LevelSetting);
    if (lowest >= 0) return lowest;
    const error = new TypeError(`taffrail: level must be one of ${SETTINGS}`);
    if (before === undefined) throw error;
    report(error);
    return before;
  }

  /** @param isOwner whether this logger has its own level switch, and not that of its parent */
  function build(
    category: string,
    type: string | undefined,
    own: Named,
    levels: LevelSwitch,
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
      // For an entry without a type the service sets the first type of the category.
      category: (name: string, kind?: string) => build(name, kind, own, levels, serializers, false),
      child(fields: object, { level, serializers: more }: ChildOptions = {}) {
        const mine = level ? { lowest: lowestOf(level, levels.lowest) } : levels;
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
        return SETTINGS[levels.lowest];
      },
      set level(level: unknown) {
        const lowest = lowestOf(level, levels.lowest);
        if (isOwner) levels.lowest = lowest;
        else levels = { lowest };
        isOwner = true;
      },
      isLevelEnabled: (name: LogLevel) => isOpen(LEVELS.indexOf(name)) && draw < rateOf(name),
    };
    const isOpen = (severity: number): boolean => hasPage && isWanted && severity >= levels.lowest;
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
      // SAFETY: `clean` returns a plain object for an object.
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
      // Pino's order of arguments.
      if (typeof data === "string" && typeof message === "object") [message, data] = [data, message];
      let entry: unknown = entryOf(level, message, data);
      let line = JSON.stringify(entry);
      try {
        if (beforeSend) entry = callBeforeSend(line);
      } catch (error) {
        // The entry is dropped, because the hook may be what removes private data.
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
      const explained = (step: Explanation["step"], reason: string, sent = false): Explanation => ({
        sent,
        step,
        reason,
      });
      if (LEVELS.indexOf(level) < levels.lowest) return explained("level", `below ${SETTINGS[levels.lowest]}`);
      if (!isWanted) return explained("category", category);
      if (draw >= rate) return explained("sampling", `rate ${rate}`);
      if (!hasPage) return explained("transport", "there is no page");
      try {
        const isKept = !beforeSend || callBeforeSend(JSON.stringify(entryOf(level, message, data)));
        return isKept ? explained("transport", `rate ${rate}`, true) : explained("beforeSend", "returned null");
      } catch (error) {
        return explained("beforeSend", `threw ${error}`);
      }
    }

    // SAFETY: the levels were added above, and the prototype has the scopes.
    return logger as unknown as BrowserLogger;
  }

  /** Returns the entry that `beforeSend` returns, redacted again. @throws errors of `beforeSend` */
  function callBeforeSend(line: string): unknown {
    return clean(withoutReentry(() => beforeSend?.(parsed(line))));
  }

  /**
   * Runs `work` and ignores its errors, because no method of the logger throws.
   * @param what is written if `debug` is set
   */
  function quietly(work: () => void, what?: unknown): void {
    try {
      if (debug && what) console.warn("taffrail:", what);
      work();
    } catch (error) {
      if (debug) console.warn("taffrail:", error);
    }
  }

  const logger = build("custom", "log", {}, levels, undefined, true);
  if (captureErrors && hasPage) logUncaught(logger.category("system", "error").error);
  return logger;
}

function parsed(json: string): LogEntry {
  return JSON.parse(json);
}
