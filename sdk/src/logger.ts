import { checkNames } from "#names";
import { runtime } from "#runtime";
import { isBuiltIn, placeOf } from "./categories.ts";
import { isoTime } from "./clock.ts";
import { dataOf, serialized } from "./data.ts";
import { type Fields, fieldsOf, idOf, membersOf, merged } from "./fields.ts";
import { createGate, type Gate, noop } from "./gate.ts";
import { LEVELS } from "./levels.ts";
import { createLifecycle } from "./lifecycle.ts";
import { TIME_LENGTH } from "./limits.ts";
import { batchSettings, checkOptions, oneOf, samplingRates } from "./options.ts";
import { createRedactor } from "./redact.ts";
import type { ContextStore } from "./runtime/runtime.ts";
import { asError, attempt, decodeText, encodeText } from "./safe.ts";
import { scopePrototype } from "./scopes.ts";
import { createEncoder, type Frame } from "./serialize.ts";
import { withSettings } from "./settings.ts";
import { activeSpan, unitHash } from "./trace.ts";
import type { Queue, QueueEvents } from "./transports/delivery.ts";
import type { MakeOutputs } from "./transports/outputs.ts";
import type { ChildOptions, Explanation, LevelSetting, LogEntry, Logger, LoggerOptions, LogMethod } from "./types.ts";
import type { Context, State, View } from "./views.ts";

// One for all loggers, and made with the first context: reading it costs every call.
let contexts: ContextStore<Context> | undefined;

/** Of all loggers, by the span that is active; empty without OpenTelemetry. */
const spans = /* @__PURE__ */ new WeakMap<object, WeakMap<State, View>>();

/** By severity, and then what closes all of them. */
const SETTINGS: readonly LevelSetting[] = [...LEVELS, "silent"];
/** Of a logger: where a method that is made later finds what it is of. */
const STATE: unique symbol = /* @__PURE__ */ Symbol();
const prototype: object = /* @__PURE__ */ scopePrototype(isBuiltIn);

/** A logger, and the parts that other entry points attach to. */
export interface Assembly {
  logger: Logger;
  queues: Queue[];
  report(error: unknown): void;
}

/** @param endMs milliseconds that a process with nothing left to do waits at most */
export function assemble(given: LoggerOptions, makeOutputs: MakeOutputs, endMs?: number): Assembly {
  const options = withSettings(given);
  checkOptions(options);
  checkNames(options);
  const { apiKey = "", level = "info", categories, excludeCategories, beforeSend, onError, onDrop, debug } = options;
  const { service, version, environment, host, defaultMeta } = options;
  const lowest = oneOf("level", level, SETTINGS);
  const rates = samplingRates(options.sampling);
  const encoder = createEncoder(createRedactor(options.redact ?? []), apiKey);
  const entries: LogEntry[] = [];
  const counts = { logged: 0, sampledOut: 0, filtered: 0, dropped: 0 };
  let session = options.sessionId;
  /** In a callback of the user's: what it logs must not call it again. */
  let isInside = false;

  /** Failures are told once unless a callback takes them. */
  let isToldOnce = !onError && !debug;
  let isLossToldOnce = isToldOnce && !onDrop;
  function report(error: unknown): void {
    if (isToldOnce) {
      isToldOnce = false;
      // Of a request: where it failed says its text, and no stack of this library's.
      warn("status" in Object(error) ? asError(error).message : error);
    }
    tell(error, () => onError?.(asError(error)));
  }
  const events: QueueEvents = {
    error: report,
    drop(lines, reason) {
      const text = `${lines.length} dropped: ${reason}`;
      if (isLossToldOnce) {
        isLossToldOnce = false;
        warn(`${text}. Not told again: see onDrop.`);
      }
      tell(text, () => {
        onDrop?.(lines.map(parsed), reason);
      });
    },
  };
  const outputs = makeOutputs(options, batchSettings(options.batch), events, entries);
  const lifecycle = createLifecycle(outputs, counts, report, endMs);
  const root = fieldsFor({ session, service, version, environment, host, ...defaultMeta });

  function tell(what: unknown, callback: () => void): void {
    if (debug) warn(what);
    try {
      called(callback);
    } catch (error) {
      if (debug) warn(error);
    }
  }

  function called<T>(callback: () => T): T {
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
      return undefined;
    }
  }

  function fieldsFor(fields: object): Fields {
    return safely(() => fieldsOf(fields, encoder.json)) ?? merged();
  }

  /** Made at first use: some platforms have no randomness before the first request. */
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
    const { traceId, spanId } = span ?? {};
    const fields = merged(root, context?.fields, state.own, span && fieldsFor({ traceId, spanId }));
    const key = fields.traceId ?? fields.session;
    const view: View = { fields, frames: [], draw: key ? unitHash(key) : undefined, context };
    if (views) views.set(state, view);
    else state.view = view;
    return view;
  }

  function isSampledOut(draw: number | undefined, severity: number): boolean {
    const rate = rates[severity] ?? 1;
    return rate < 1 && (draw ?? Math.random()) >= rate;
  }

  function write(state: State, severity: number, message: unknown, data: unknown): void {
    if (severity < state.gate.lowest) return;
    // Pino's order.
    if (typeof data === "string" && typeof message === "object") [message, data] = [data, message];
    try {
      const span = activeSpan();
      const view = (contexts === undefined && !span && state.view) || viewOf(state, span);
      if (isSampledOut(view.draw, severity)) counts.sampledOut++;
      else {
        const now = Date.now();
        const line = encode(state, view, severity, message, data, now);
        if (beforeSend) hook(line, severity, now);
        else emit(line, severity, now);
      }
    } catch (error) {
      report(error);
    }
  }

  /** @param ids,meta JSON of members, without braces; the timestamp is filled in with each entry */
  function framed(
    severity: number,
    { category, type }: Pick<State, "category" | "type">,
    ids: string,
    meta: string,
  ): Frame {
    const json = encoder.json({ timestamp: new Date(0), level: LEVELS[severity], category, type });
    return {
      head: encodeText(`${json.slice(0, -1)},"message":`),
      time: "",
      ids: encodeText(ids && `,${ids}`),
      meta: encodeText(meta && `{${meta}`),
    };
  }

  function frameOf(state: State, { fields }: View, severity: number, without?: object): Frame {
    const rate = rates[severity] ?? 1;
    const all = merged(
      { session: `"session":"${sessionOf()}"` },
      fields,
      rate < 1 ? { sampleRate: `"sampleRate":${rate}` } : {},
    );
    return framed(severity, state, membersOf(all, true), membersOf(all, false, without));
  }

  function encode(
    state: State,
    view: View,
    severity: number,
    message: unknown,
    data: unknown,
    now: number,
  ): Uint8Array {
    let frame = view.frames[severity];
    if (frame === undefined) frame = view.frames[severity] = frameOf(state, view, severity);
    const own = dataOf(message, state.serializers ? serialized(data, state.serializers) : data);
    // A field of the call's own stands for the one every entry has.
    if (own && frame.meta.length > 0) {
      try {
        for (const name in own) {
          if (name in view.fields || name === "sampleRate") {
            frame = frameOf(state, view, severity, own);
            break;
          }
        }
      } catch {
        // A proxy may answer nothing; that is marked where it is written.
      }
    }
    return encoder.entry(frame, isoTime(now), message, own);
  }

  function emit(line: Uint8Array, severity: number, now: number): void {
    counts.logged++;
    // The line is lent until somebody logs, and an output may.
    const kept = outputs.length > 1 ? line.slice() : line;
    for (const output of outputs) {
      try {
        output.write(kept, severity, now);
      } catch (error) {
        report(error);
      }
    }
  }

  /** One that fails drops the entry: it may be what keeps private data back. */
  function hook(line: Uint8Array, severity: number, now: number): void {
    const json = decodeText(line);
    try {
      const entry = ask(json);
      if (entry === null) counts.filtered++;
      else {
        const { timestamp, level, category, type, message, session, traceId, spanId, data, ...others } = entry;
        if (typeof message !== "string") throw new TypeError("beforeSend gave no entry");
        const place = placeOf(category, type);
        const final = LEVELS.includes(level) ? LEVELS.indexOf(level) : severity;
        const time = new Date(timestamp).toJSON();
        const ids = encoder.json({ session: idOf(session), traceId: idOf(traceId), spanId: idOf(spanId) }).slice(1, -1);
        const more = { ...others, ...place.note, ...data };
        // Years of more than four digits take more room than there is.
        const fits = time?.length === TIME_LENGTH;
        emit(encoder.entry(framed(final, place, ids, ""), fits ? time : isoTime(now), message, more), final, now);
      }
    } catch (error) {
      counts.dropped++;
      report(error);
      events.drop([json], "before-send");
    }
  }

  function ask(json: string): LogEntry | null {
    return called(() => (beforeSend ? beforeSend(parsed(json)) : parsed(json)));
  }

  function explain(state: State, level: LogEntry["level"], message: string, data?: object): Explanation {
    const severity = LEVELS.indexOf(level);
    const view = viewOf(state);
    const rate = `rate ${rates[severity]}`;
    const told = (step: Explanation["step"], reason: string) => ({ sent: step === "transport", step, reason });
    const { lowest } = state.gate;
    if (severity < lowest) return told("level", `below ${SETTINGS[lowest]}`);
    if (!isWanted(state.category)) return told("category", state.category);
    // What draws at each entry may or may not be sent.
    if (isSampledOut(view.draw ?? 0, severity)) return told("sampling", rate);
    try {
      const json = decodeText(encode(state, view, severity, message, data, Date.now()));
      return ask(json) ? told("transport", rate) : told("beforeSend", "returned null");
    } catch (error) {
      return told("beforeSend", `threw ${asError(error).message}`);
    }
  }

  function isWanted(category: string): boolean {
    const has = (list: readonly string[] | null | undefined) => list?.includes(category);
    return has(categories) !== false && !has(excludeCategories);
  }

  function gateOf(lowest: number): Gate {
    return createGate(lowest, prototype, (logger, severity) => {
      // SAFETY: it is the prototype of nothing but loggers.
      return methodOf((logger as { [STATE]: State })[STATE], severity);
    });
  }

  /** @returns nothing for a name that is no level, after having told so */
  function severityOf(level: unknown): number | undefined {
    return safely(() => oneOf("level", level, SETTINGS));
  }

  function isOpen({ category }: State, severity: number): boolean {
    return isWanted(category) && rates[severity] !== 0;
  }

  function methodOf(state: State, severity: number): LogMethod {
    return isOpen(state, severity) ? (message, data) => write(state, severity, message, data) : noop;
  }

  /** @param isOwner whether the gate is of this logger, and not of the one it was made from */
  function build(state: State, isOwner: boolean): Logger {
    function made(place: Partial<State>, note: object, isOwner = false): Logger {
      const { category, type, own, gate, serializers } = state;
      return build({ category, type, gate, serializers, ...place, own: merged(own, fieldsFor(note)) }, isOwner);
    }
    const logger = {
      __proto__: state.gate.methods,
      ...shared,
      [STATE]: state,
      get sessionId() {
        const { session } = viewOf(state).fields;
        return session ? JSON.parse(session.slice(10)) : sessionOf();
      },
      get level() {
        return SETTINGS[state.gate.lowest];
      },
      set level(name: unknown) {
        const severity = severityOf(name) ?? state.gate.lowest;
        if (isOwner) state.gate.set(severity);
        else {
          isOwner = true;
          state.gate = gateOf(severity);
          Object.setPrototypeOf(logger, state.gate.methods);
          // Scopes, which have the other gate.
          for (const name of Object.getOwnPropertyNames(logger))
            if (!Object.keys(logger).includes(name)) Reflect.deleteProperty(logger, name);
        }
        open();
      },
      isLevelEnabled: (name: LogEntry["level"]) => {
        const severity = LEVELS.indexOf(name);
        return severity >= state.gate.lowest && isOpen(state, severity);
      },
      category(name: unknown, kind: unknown) {
        const { note, ...place } = placeOf(name, kind);
        return made(place, note);
      },
      child(fields: object, { level, serializers }: ChildOptions = {}) {
        const severity = level && severityOf(level);
        return made(
          {
            ...(severity !== undefined && { gate: gateOf(severity) }),
            ...(serializers && { serializers: { ...state.serializers, ...serializers } }),
          },
          fields,
          severity !== undefined,
        );
      },
      explain: (level: LogEntry["level"], message = "", data?: object) => explain(state, level, message, data),
      // SAFETY: the levels follow, and scopes are the prototype's.
    } as unknown as Logger;

    /** What is closed is the prototype's no-op. */
    function open(): void {
      LEVELS.forEach((level, severity) => {
        if (severity < state.gate.lowest) Reflect.deleteProperty(logger, level);
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

  const gate = gateOf(lowest);
  const first = { category: "custom", type: "log", own: merged(), gate, serializers: undefined };
  return { logger: build(first, true), queues: outputs.flatMap(({ queue }) => queue ?? []), report };
}

/** An error may repeat what it was given: where a terminal would obey that, it is told as text. */
function warn(what: unknown): void {
  const text = attempt(() => `${Object(what).stack ?? what}`);
  const shown = runtime.visible(text);
  console.warn("taffrail:", shown === text ? what : shown);
}

function parsed(json: string): LogEntry {
  return JSON.parse(json);
}
