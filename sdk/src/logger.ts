import { checkNames } from "#names";
import { runtime } from "#runtime";
import { entryKindOf, isBuiltIn } from "./categories.ts";
import { isoTime } from "./clock.ts";
import { dataOf, serialized } from "./data.ts";
import { type Fields, fieldsOf, idOf, membersOf, merged } from "./fields.ts";
import { createLevelSwitch, type LevelSwitch, noop } from "./level-switch.ts";
import { LEVELS } from "./levels.ts";
import { createLifecycle } from "./lifecycle.ts";
import { TIME_LENGTH } from "./limits.ts";
import type { ChildOptions, LoggerOptions } from "./logger-options.ts";
import { batchSettings, checkOptions, oneOf, samplingRates } from "./options.ts";
import { createRedactor } from "./redact.ts";
import type { ContextStore } from "./runtime/runtime.ts";
import { asError, attempt, decodeText, encodeText } from "./safe.ts";
import { scopePrototype } from "./scopes.ts";
import { createEncoder, type EntryPrefix } from "./serialize.ts";
import { withSettings } from "./settings.ts";
import { activeSpan, unitHash } from "./trace.ts";
import type { Queue, QueueEvents } from "./transports/delivery.ts";
import type { MakeOutputs } from "./transports/outputs.ts";
import type { Explanation, LevelSetting, LogEntry, Logger, LogMethod } from "./types.ts";
import type { Context, State, View } from "./views.ts";

// Shared by all loggers. Created with the first context, because reading it slows every call down.
let contexts: ContextStore<Context> | undefined;

/** Views of all loggers by the active span; empty without OpenTelemetry. */
const spans = /* @__PURE__ */ new WeakMap<object, WeakMap<State, View>>();

/** The settings of `level` by lowest severity; `silent` is 7. */
const SETTINGS: readonly LevelSetting[] = [...LEVELS, "silent"];
/** The member of a logger with its state, for methods that are created later. */
const STATE: unique symbol = /* @__PURE__ */ Symbol();
const prototype: object = /* @__PURE__ */ scopePrototype(isBuiltIn);

/** A logger, and the parts that other entry points extend. */
export interface Assembly {
  logger: Logger;
  queues: Queue[];
  report(error: unknown): void;
}

/** @param endMs milliseconds for which a process with an empty event loop waits for deliveries */
export function assemble(given: LoggerOptions, makeOutputs: MakeOutputs, endMs?: number): Assembly {
  const options = withSettings(given);
  checkOptions(options);
  checkNames(options);
  const {
    apiKey = "",
    level = "info",
    categories,
    excludeCategories,
    beforeSend,
    onError,
    onDrop,
    debug,
    service,
    version,
    environment,
    host,
    defaultMeta,
  } = options;
  const lowest = oneOf("level", level, SETTINGS);
  const rates = samplingRates(options.sampling);
  const encoder = createEncoder(createRedactor(options.redact ?? []), apiKey);
  const entries: LogEntry[] = [];
  const counts = { logged: 0, sampledOut: 0, filtered: 0, dropped: 0 };
  let session = options.sessionId;
  /** Whether a callback of the application runs. Entries that it logs must not call it again. */
  let isInside = false;

  /** Whether the first error is reported on the console, because no callback receives it. */
  let isReportDue = !onError && !debug;
  /** Number of dropped entries at which the console reports again: ten times as many each time. */
  let reportFrom = isReportDue && !onDrop ? 1 : 1 / 0;
  function report(error: unknown): void {
    if (isReportDue) {
      isReportDue = false;
      // For a failed request the message is enough: the stack is one of this library.
      warn("status" in Object(error) ? asError(error).message : error);
    }
    notify(error, () => onError?.(asError(error)));
  }
  const events: QueueEvents = {
    error: report,
    drop(lines, reason) {
      if (lines.length === 0) return;
      counts.dropped += lines.length;
      if (counts.dropped >= reportFrom) {
        reportFrom = counts.dropped * 10;
        warn(`${counts.dropped} dropped so far: ${reason}. Next report at ${reportFrom}; see onDrop.`);
      }
      notify(`${lines.length} dropped: ${reason}`, () => onDrop?.(lines.map(parsed), reason));
    },
  };
  const outputs = makeOutputs(options, batchSettings(options.batch), events, entries);
  const lifecycle = createLifecycle(outputs, counts, report, endMs);
  const root = fieldsFor({ session, service, version, environment, host, ...defaultMeta });

  function notify(what: unknown, callback: () => void): void {
    if (debug) warn(what);
    try {
      withoutReentry(callback);
    } catch (error) {
      if (debug) warn(error);
    }
  }

  function withoutReentry<T>(callback: () => T): T {
    if (isInside) throw new Error("A callback logged.");
    isInside = true;
    try {
      return callback();
    } finally {
      isInside = false;
    }
  }

  function safely<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      report(error);
    }
  }

  function fieldsFor(fields: object): Fields {
    return safely(() => fieldsOf(fields, encoder.json)) ?? merged();
  }

  /** Creates the session at first use, because some platforms have no randomness before the first request. */
  function sessionOf(): string {
    session ||= crypto.randomUUID();
    return session;
  }

  function viewOf(state: State, span = activeSpan()): View {
    const context = contexts?.getStore();
    let views = context?.views;
    if (span) {
      views = spans.get(span) ?? new WeakMap();
      spans.set(span, views);
    }
    const known = views ? views.get(state) : state.view;
    if (known && known.context === context) return known;
    const fields = merged(
      root,
      context?.fields,
      state.own,
      span && fieldsFor({ traceId: span.traceId, spanId: span.spanId }),
    );
    const key = fields.traceId ?? fields.session;
    const view: View = { fields, prefixes: [], draw: key ? unitHash(key) : undefined, context };
    if (views) views.set(state, view);
    else state.view = view;
    return view;
  }

  function isSampledOut(draw: number | undefined, severity: number): boolean {
    const rate = rates[severity] ?? 1;
    return rate < 1 && (draw ?? Math.random()) >= rate;
  }

  function write(state: State, severity: number, message: unknown, data: unknown): void {
    if (severity < state.levels.lowest) return;
    // Pino's order of arguments.
    if (typeof data === "string" && typeof message === "object") [message, data] = [data, message];
    try {
      const span = activeSpan();
      const view = (!contexts && !span && state.view) || viewOf(state, span);
      if (isSampledOut(view.draw, severity)) counts.sampledOut++;
      else {
        const now = Date.now();
        const line = encode(state, view, severity, message, data, now);
        if (beforeSend) applyBeforeSend(line, severity, now);
        else emit(line, severity, now);
      }
    } catch (error) {
      report(error);
    }
  }

  /** @param ids,meta JSON of members, without braces. The encoder sets the timestamp of each entry. */
  function encodePrefix(
    severity: number,
    { category, type }: Pick<State, "category" | "type">,
    ids: string,
    meta: string,
  ): EntryPrefix {
    const json = encoder.json({ timestamp: new Date(0), level: LEVELS[severity], category, type });
    return {
      head: encodeText(`${json.slice(0, -1)},"message":`),
      time: "",
      ids: encodeText(ids && `,${ids}`),
      meta: encodeText(meta && `{${meta}`),
    };
  }

  function prefixOf(state: State, { fields }: View, severity: number, without?: object): EntryPrefix {
    const rate = rates[severity] ?? 1;
    const all = merged(
      { session: `"session":"${sessionOf()}"` },
      fields,
      rate < 1 ? { sampleRate: `"sampleRate":${rate}` } : {},
    );
    return encodePrefix(severity, state, membersOf(all, true), membersOf(all, false, without));
  }

  function encode(
    state: State,
    view: View,
    severity: number,
    message: unknown,
    data: unknown,
    now: number,
  ): Uint8Array {
    view.prefixes[severity] ??= prefixOf(state, view, severity);
    let prefix = view.prefixes[severity];
    const own = dataOf(message, state.serializers ? serialized(data, state.serializers) : data);
    // Fields of the call replace those of the logger.
    if (own && prefix.meta.length > 0) {
      try {
        for (const name in own) {
          if (name in view.fields || name === "sampleRate") {
            prefix = prefixOf(state, view, severity, own);
            break;
          }
        }
      } catch {
        // A proxy may throw; the encoder marks that.
      }
    }
    return encoder.entry(prefix, isoTime(now), message, own);
  }

  function emit(line: Uint8Array, severity: number, now: number): void {
    counts.logged++;
    // The line is only valid until the next log call, and an output may log.
    const kept = outputs.length > 1 ? line.slice() : line;
    for (const output of outputs) {
      try {
        output.write(kept, severity, now);
      } catch (error) {
        report(error);
      }
    }
  }

  /** Applies `beforeSend`. If it throws, the entry is dropped, because the hook may be what removes private data. */
  function applyBeforeSend(line: Uint8Array, severity: number, now: number): void {
    const json = decodeText(line);
    try {
      const entry = callBeforeSend(json);
      if (entry === null) counts.filtered++;
      else {
        const { timestamp, level, category, type, message, session, traceId, spanId, data, ...others } = entry;
        if (typeof message !== "string") throw new TypeError("beforeSend returned no entry");
        const entryKind = entryKindOf(category, type);
        const final = LEVELS.includes(level) ? LEVELS.indexOf(level) : severity;
        const time = new Date(timestamp).toJSON();
        const ids = encoder.json({ session: idOf(session), traceId: idOf(traceId), spanId: idOf(spanId) }).slice(1, -1);
        const more = { ...others, ...entryKind.note, ...data };
        // The prefix has no room for years of more than four digits.
        const fits = time?.length === TIME_LENGTH;
        emit(
          encoder.entry(encodePrefix(final, entryKind, ids, ""), fits ? time : isoTime(now), message, more),
          final,
          now,
        );
      }
    } catch (error) {
      report(error);
      events.drop([json], "before-send");
    }
  }

  function callBeforeSend(json: string): LogEntry | null {
    return withoutReentry(() => (beforeSend ? beforeSend(parsed(json)) : parsed(json)));
  }

  function explain(state: State, level: LogEntry["level"], message: string, data?: object): Explanation {
    const severity = LEVELS.indexOf(level);
    const view = viewOf(state);
    const rate = `rate ${rates[severity]}`;
    const explained = (step: Explanation["step"], reason: string) => ({ sent: step === "transport", step, reason });
    const { lowest } = state.levels;
    if (severity < lowest) return explained("level", `below ${SETTINGS[lowest]}`);
    if (!isWanted(state.category)) return explained("category", state.category);
    // An entry without a trace or session is sampled at random; it counts as sent.
    if (isSampledOut(view.draw ?? 0, severity)) return explained("sampling", rate);
    try {
      const json = decodeText(encode(state, view, severity, message, data, Date.now()));
      return callBeforeSend(json) ? explained("transport", rate) : explained("beforeSend", "returned null");
    } catch (error) {
      return explained("beforeSend", `threw ${asError(error).message}`);
    }
  }

  function isWanted(category: string): boolean {
    const has = (list: readonly string[] | null | undefined) => list?.includes(category);
    return has(categories) !== false && !has(excludeCategories);
  }

  function levelSwitchOf(lowest: number): LevelSwitch {
    return createLevelSwitch(lowest, prototype, (logger, severity) => {
      // SAFETY: only loggers have this prototype.
      return methodOf((logger as { [STATE]: State })[STATE], severity);
    });
  }

  /** @returns `undefined` for an unknown level name, which is reported */
  function severityOf(level: unknown): number | undefined {
    return safely(() => oneOf("level", level, SETTINGS));
  }

  function isOpen({ category }: State, severity: number): boolean {
    return isWanted(category) && rates[severity] !== 0;
  }

  function methodOf(state: State, severity: number): LogMethod {
    return isOpen(state, severity) ? (message, data) => write(state, severity, message, data) : noop;
  }

  /** @param isOwner whether this logger has its own level switch, and not that of its parent */
  function build(state: State, isOwner: boolean): Logger {
    function derive(changes: Partial<State>, note: object, isOwner = false): Logger {
      const { category, type, own, levels, serializers } = state;
      return build({ category, type, levels, serializers, ...changes, own: merged(own, fieldsFor(note)) }, isOwner);
    }
    const logger = {
      __proto__: state.levels.methods,
      ...shared,
      [STATE]: state,
      get sessionId() {
        const { session } = viewOf(state).fields;
        return session ? JSON.parse(session.slice(10)) : sessionOf();
      },
      get level() {
        return SETTINGS[state.levels.lowest];
      },
      set level(name: unknown) {
        const severity = severityOf(name) ?? state.levels.lowest;
        if (isOwner) state.levels.set(severity);
        else {
          isOwner = true;
          state.levels = levelSwitchOf(severity);
          Object.setPrototypeOf(logger, state.levels.methods);
          // Removes the scopes, which use the old level switch.
          for (const name of Object.getOwnPropertyNames(logger))
            if (!Object.keys(logger).includes(name)) Reflect.deleteProperty(logger, name);
        }
        open();
      },
      isLevelEnabled: (name: LogEntry["level"]) => {
        const severity = LEVELS.indexOf(name);
        return severity >= state.levels.lowest && isOpen(state, severity);
      },
      category(name: unknown, kind: unknown) {
        const { note, ...entryKind } = entryKindOf(name, kind);
        return derive(entryKind, note);
      },
      child(fields: object, { level, serializers }: ChildOptions = {}) {
        const severity = level && severityOf(level);
        return derive(
          {
            ...(severity !== undefined && { levels: levelSwitchOf(severity) }),
            ...(serializers && { serializers: { ...state.serializers, ...serializers } }),
          },
          fields,
          severity !== undefined,
        );
      },
      explain: (level: LogEntry["level"], message = "", data?: object) => explain(state, level, message, data),
      // SAFETY: the levels are added below, and the prototype has the scopes.
    } as unknown as Logger;

    /** Adds the methods of enabled levels. Disabled levels use the no-op of the prototype. */
    function open(): void {
      LEVELS.forEach((level, severity) => {
        if (severity < state.levels.lowest) Reflect.deleteProperty(logger, level);
        else logger[level] = methodOf(state, severity);
      });
    }

    open();
    return logger;
  }

  const shared = {
    entries,
    silent: noop,
    ...lifecycle,
    withContext<T>(fields: object, work: () => T): T {
      contexts ??= runtime.createContext();
      const all = merged(contexts.getStore()?.fields, fieldsFor(fields));
      return contexts.run({ fields: all, views: new WeakMap() }, work);
    },
    [Symbol.asyncDispose ?? "asyncDispose"]: lifecycle.close,
  };

  const levels = levelSwitchOf(lowest);
  const first = { category: "custom", type: "log", own: merged(), levels, serializers: undefined };
  return { logger: build(first, true), queues: outputs.flatMap(({ queue }) => queue ?? []), report };
}

/** Writes to the console, as escaped text if the value has control characters: an error may repeat untrusted input. */
function warn(what: unknown): void {
  const text = attempt(() => `${Object(what).stack ?? what}`);
  const shown = runtime.visible(text);
  console.warn("taffrail:", shown === text ? what : shown);
}

function parsed(json: string): LogEntry {
  return JSON.parse(json);
}
