import { runtime } from "#runtime";
import { isBuiltIn, placeOf } from "./categories.ts";
import { isoTime } from "./clock.ts";
import { dataOf } from "./data.ts";
import { type Fields, fieldsOf, idOf, membersOf, merged } from "./fields.ts";
import { LEVELS } from "./levels.ts";
import { createLifecycle } from "./lifecycle.ts";
import { TIME_LENGTH } from "./limits.ts";
import { batchSettings, checkTypes, oneOf, samplingRates } from "./options.ts";
import { createRedactor } from "./redact.ts";
import type { ContextStore } from "./runtime/runtime.ts";
import { asError, attempt, decodeText, encodeText } from "./safe.ts";
import { scopePrototype } from "./scopes.ts";
import { createEncoder, type Frame } from "./serialize.ts";
import { visible } from "./terminal.ts";
import { unitHash } from "./trace.ts";
import type { Queue, QueueEvents } from "./transports/delivery.ts";
import type { MakeOutputs } from "./transports/outputs.ts";
import type { Explanation, LogEntry, Logger, LoggerOptions, LogMethod } from "./types.ts";
import type { Context, State, View } from "./views.ts";

// One for all loggers, and made with the first context: reading it costs every call.
let contexts: ContextStore<Context> | undefined;

/** What the service answers to a key or a project it does not know. */
const UNKNOWN = [401, 403, 404];

const noop: LogMethod = () => {};
const prototype: object = /* @__PURE__ */ scopePrototype(isBuiltIn);

/** A logger, and the parts that other entry points attach to. */
export interface Assembly {
  logger: Logger;
  queues: Queue[];
  report(error: unknown): void;
}

export function assemble(options: LoggerOptions, makeOutputs: MakeOutputs): Assembly {
  checkTypes(options);
  const { apiKey = "", level = "info", categories, excludeCategories, beforeSend, onError, onDrop, debug } = options;
  const lowest = oneOf("level", level, LEVELS);
  const rates = samplingRates(options.sampling);
  const encoder = createEncoder(createRedactor(options.redact ?? []), apiKey);
  const entries: LogEntry[] = [];
  const counts = { logged: 0, sampledOut: 0, filtered: 0, dropped: 0 };
  let session = options.sessionId;
  /** In a callback of the user's: what it logs must not call it again. */
  let isInside = false;

  /** A key that is wrong loses all there is to lose: said once where nobody asked to be told. */
  let isSilent = !onError && !debug;
  function report(error: unknown): void {
    if (isSilent && UNKNOWN.includes(Object(error).status)) {
      isSilent = false;
      warn(error);
    }
    tell(error, () => onError?.(asError(error)));
  }
  const events: QueueEvents = {
    error: report,
    drop: (lines, reason) =>
      tell(`${lines.length} dropped: ${reason}`, () => {
        onDrop?.(lines.map(parsed), reason);
      }),
  };
  const outputs = makeOutputs(options, batchSettings(options.batch), events, entries);
  const lifecycle = createLifecycle(outputs, counts, report);
  const root = fieldsFor({ session, ...options.defaultMeta });

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

  function fieldsFor(fields: object): Fields {
    try {
      return fieldsOf(fields, encoder.json);
    } catch (error) {
      report(error);
      return merged();
    }
  }

  /** Made at first use: some platforms have no randomness before the first request. */
  function sessionOf(): string {
    session ||= crypto.randomUUID();
    return session;
  }

  function viewOf(state: State): View {
    const context = contexts?.getStore();
    const known = context ? context.views.get(state) : state.view;
    if (known) return known;
    const fields = merged(root, context?.fields, state.own);
    const key = fields.traceId ?? fields.session;
    const view: View = { fields, frames: [], draw: key ? unitHash(key) : undefined };
    if (context) context.views.set(state, view);
    else state.view = view;
    return view;
  }

  function isSampledOut(draw: number | undefined, severity: number): boolean {
    const rate = rates[severity] ?? 1;
    return rate < 1 && (draw ?? Math.random()) >= rate;
  }

  function write(state: State, severity: number, message: unknown, data: unknown): void {
    try {
      const view = contexts === undefined && state.view ? state.view : viewOf(state);
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
    const own = dataOf(message, data);
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
    if (severity < lowest) return told("level", `below ${LEVELS[lowest]}`);
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

  function build(category: string, type: string, own: Fields): Logger {
    const state: State = { category, type, own };
    const logger = {
      __proto__: prototype,
      ...shared,
      get sessionId() {
        const { session } = viewOf(state).fields;
        return session ? JSON.parse(session.slice(10)) : sessionOf();
      },
      category(name: unknown, kind: unknown) {
        const { category, type, note } = placeOf(name, kind);
        return build(category, type, merged(own, fieldsFor(note)));
      },
      child: (fields: object) => build(category, type, merged(own, fieldsFor(fields))),
      explain: (level: LogEntry["level"], message = "", data?: object) => explain(state, level, message, data),
      // SAFETY: the levels follow, and scopes are the prototype's.
    } as unknown as Logger;
    LEVELS.forEach((level, severity) => {
      const isOpen = isWanted(category) && severity >= lowest && rates[severity] !== 0;
      const method: LogMethod = (message, data) => write(state, severity, message, data);
      logger[level] = isOpen ? method : noop;
    });
    return logger;
  }

  const shared = {
    entries,
    ...lifecycle,
    withContext<T>(fields: object, work: () => T): T {
      contexts ??= runtime.createContext();
      const all = merged(contexts.getStore()?.fields, fieldsFor(fields));
      return contexts.run({ fields: all, views: new WeakMap() }, work);
    },
    [Symbol.asyncDispose ?? "asyncDispose"]: lifecycle.close,
  };

  return { logger: build("custom", "log", merged()), queues: outputs.flatMap(({ queue }) => queue ?? []), report };
}

/** An error may repeat what it was given: where a terminal would obey that, it is told as text. */
function warn(what: unknown): void {
  const text = attempt(() => `${Object(what).stack ?? what}`);
  const shown = visible(text);
  console.warn("taffrail:", shown === text ? what : shown);
}

function parsed(json: string): LogEntry {
  return JSON.parse(json);
}
