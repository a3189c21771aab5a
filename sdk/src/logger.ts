import { runtime } from "#runtime";
import { isoTime } from "./clock.ts";
import { LEVELS, placeOf } from "./levels.ts";
import { batchSettings, checkTypes, oneOf, samplingRates } from "./options.ts";
import { createRedactor } from "./redact.ts";
import type { ContextStore } from "./runtime/runtime.ts";
import { loggerPrototype } from "./scopes.ts";
import { createEncoder, decodeText, encodeText, type Frame, isError, START } from "./serialize.ts";
import { traceIds, unitHash } from "./trace.ts";
import type { MakeOutputs } from "./transports/outputs.ts";
import { asError, NO_STATS, type Queue, type QueueEvents } from "./transports/queue.ts";
import type {
  Explanation,
  FlushResult,
  LogEntry,
  Logger,
  LoggerMethods,
  LoggerOptions,
  LoggerStats,
  LogMethod,
} from "./types.ts";

/** Bytes of JSON that `defaultMeta`, children and contexts may add to an entry. */
const MAX_META_BYTES = 64 * 1024;
/** Characters of a session or trace id. */
const MAX_ID = 256;
const FLUSH_MS = 10_000;

/** Fields with what they become: members of the entry, and members of `data` by name, each as JSON. */
interface Fields {
  ids: { session?: string; traceId?: string; spanId?: string };
  data: Readonly<Record<string, string>>;
}

/** What entries of one child in one context have in common. */
interface View extends Fields {
  /** By severity, made at first use. */
  frames: Frame[];
  /** 0 to 1, the same for all entries of a trace or session; without either each entry draws its own. */
  draw: number | undefined;
}

interface State {
  category: string;
  type: string;
  own: Fields;
  /** Outside any context. */
  view?: View;
}

interface Context extends Fields {
  views: WeakMap<State, View>;
}

// One for all loggers, and made with the first context: reading it costs every call.
let contexts: ContextStore<Context> | undefined;

const noop: LogMethod = () => {};

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
  const encoder = createEncoder(createRedactor(apiKey, options.redact ?? []));
  const entries: LogEntry[] = [];
  const counts = { logged: 0, sampledOut: 0, filtered: 0, dropped: 0 };
  let session = options.sessionId;
  /** In a callback of the user's: what it logs must not call it again. */
  let isInside = false;

  const report = (error: unknown): void => tell(error, () => onError?.(asError(error)));
  const events: QueueEvents = {
    error: report,
    drop: (lost, count, reason) => tell(`${count} dropped: ${reason}`, () => onDrop?.(lost(), reason)),
  };
  const outputs = makeOutputs(options, batchSettings(options.batch), events, entries);
  const queues = outputs.flatMap(({ queue }) => queue ?? []);
  const root = fieldsOf(options.defaultMeta ?? {});

  function tell(what: unknown, callback: () => void): void {
    if (debug) console.warn("taffrail:", what);
    if (isInside) return;
    isInside = true;
    try {
      callback();
    } catch (error) {
      if (debug) console.warn("taffrail:", error);
    }
    isInside = false;
  }

  function fieldsOf(fields: object): Fields {
    const data: Record<string, string> = Object.create(null);
    const ids: Record<string, string> = {};
    try {
      for (const [name, value] of Object.entries(fields)) {
        if (name === "traceparent") Object.assign(ids, traceIds(value));
        else if (!/^(?:session|traceId|spanId)$/.test(name)) {
          const json = encoder.json({ [name]: value }).slice(1, -1);
          if (json) data[name] = json;
        } else if (value && typeof value === "string") {
          ids[name] = value.slice(0, MAX_ID);
        }
      }
    } catch (error) {
      report(error);
    }
    return { ids, data };
  }

  function merged(...all: Fields[]): Fields {
    return {
      ids: Object.assign({}, ...all.map(({ ids }) => ids)),
      data: Object.assign(Object.create(null), ...all.map(({ data }) => data)),
    };
  }

  function viewOf(state: State): View {
    const context = contexts?.get();
    const known = context ? context.views.get(state) : state.view;
    if (known) return known;
    const fields = context ? merged(root, context, state.own) : merged(root, state.own);
    const key = fields.ids.traceId ?? fields.ids.session ?? options.sessionId;
    const view: View = { ...fields, frames: [], draw: key ? unitHash(key) : undefined };
    if (context) context.views.set(state, view);
    else state.view = view;
    return view;
  }

  function frameOf({ category, type }: State, { ids, data }: View, severity: number, without: object = {}): Frame {
    const rate = rates[severity] ?? 1;
    const all = rate < 1 ? { ...data, sampleRate: `"sampleRate":${rate}` } : data;
    const names = Object.keys(all).filter((name) => !(name in without));
    const meta = names.map((name) => all[name as keyof typeof all]).join();
    // Masked as a whole: an id may be anything a caller passes on.
    const part = (members: object) => encoder.json(members).slice(1, -1);
    return {
      before: encodeText(`${START}${" ".repeat(24)}",${part({ level: LEVELS[severity], category, type })},"message":`),
      time: "",
      after: encodeText(`,${part({ session: sessionOf(), ...ids })}`),
      meta: encodeText(meta && `{${meta.length > MAX_META_BYTES ? '"[Truncated]":true' : meta}`),
    };
  }

  /** Made at first use: some platforms have no randomness before the first request. */
  function sessionOf(): string {
    session ||= crypto.randomUUID();
    return session;
  }

  function write(state: State, severity: number, message: unknown, data: unknown): void {
    try {
      const view = contexts === undefined && state.view ? state.view : viewOf(state);
      if (isSampledOut(view.draw, severity)) counts.sampledOut++;
      else encode(state, view, severity, message, data, beforeSend ? hook : emit);
    } catch (error) {
      report(error);
    }
  }

  function isSampledOut(draw: number | undefined, severity: number): boolean {
    const rate = rates[severity] ?? 1;
    return rate < 1 && (draw ?? Math.random()) >= rate;
  }

  function encode(state: State, view: View, severity: number, message: unknown, data: unknown, use: typeof emit): void {
    let frame = view.frames[severity];
    if (frame === undefined) frame = view.frames[severity] = frameOf(state, view, severity);
    const fields = dataOf(message, data);
    // A field of the call's own stands for the one every entry has.
    if (fields && frame.meta.length > 0) {
      for (const name in fields) {
        if (name in view.data || name === "sampleRate") {
          frame = frameOf(state, view, severity, fields);
          break;
        }
      }
    }
    const now = Date.now();
    encoder.entry(frame, isoTime(now), message, fields, severity, now, use);
  }

  function emit(line: Uint8Array, severity: number, now: number): void {
    counts.logged++;
    for (const output of outputs) {
      try {
        output.write(line, severity, now);
      } catch (error) {
        report(error);
      }
    }
  }

  /** One that fails drops the entry: it may be what keeps private data back. */
  function hook(line: Uint8Array, severity: number, now: number): void {
    const json = decodeText(line);
    try {
      const entry = ask(JSON.parse(json));
      if (entry === null) counts.filtered++;
      else if (typeof entry.message !== "string") throw new TypeError("beforeSend must return an entry or null.");
      else {
        const { timestamp, level, category, type, message, session, traceId, spanId, data, ...others } = entry;
        const place = placeOf(category, type);
        const final = LEVELS.indexOf(level) < 0 ? severity : LEVELS.indexOf(level);
        encoder.whole(
          {
            timestamp: new Date(timestamp).toJSON() ?? isoTime(now),
            level: LEVELS[final],
            category: place.category,
            type: place.type,
            message: message || "(no message)",
            ...fieldsOf({ session, traceId, spanId }).ids,
            data: { ...others, ...place.note, ...data },
          },
          final,
          now,
          emit,
        );
      }
    } catch (error) {
      counts.dropped++;
      report(error);
      events.drop(() => [JSON.parse(json)], 1, "before-send");
    }
  }

  function ask(entry: LogEntry): LogEntry | null {
    if (isInside) throw new Error("A callback logged.");
    isInside = true;
    try {
      return beforeSend ? beforeSend(entry) : entry;
    } finally {
      isInside = false;
    }
  }

  function explain(state: State, level: LogEntry["level"], message: string, data?: object): Explanation {
    const severity = LEVELS.indexOf(level);
    if (severity < lowest) return { sent: false, step: "level", reason: `below ${LEVELS[lowest]}` };
    if (!isWanted(state.category)) return { sent: false, step: "category", reason: state.category };
    const view = viewOf(state);
    const rate = rates[severity] ?? 1;
    // What draws at each entry may or may not be sent.
    if (isSampledOut(view.draw ?? 0, severity)) {
      return { sent: false, step: "sampling", reason: `rate ${rate}` };
    }
    let refusal = "";
    encode(state, view, severity, message, data, (line) => {
      try {
        if (!ask(JSON.parse(decodeText(line)))) refusal = "returned null";
      } catch (error) {
        refusal = `threw ${asError(error).message}`;
      }
    });
    return refusal
      ? { sent: false, step: "beforeSend", reason: refusal }
      : { sent: true, step: "transport", reason: `rate ${rate}` };
  }

  function isWanted(category: string): boolean {
    const has = (list: readonly string[] | null | undefined) => list?.includes(category);
    return has(categories) !== false && !has(excludeCategories);
  }

  function build(category: string, type: string, own: Fields): Logger {
    const state: State = { category, type, own };
    // SAFETY: all members are assigned below; scopes come from the prototype.
    const logger = Object.create(loggerPrototype) as { -readonly [K in keyof LoggerMethods]: LoggerMethods[K] };
    LEVELS.forEach((level, severity) => {
      const isOpen = isWanted(category) && severity >= lowest && rates[severity] !== 0;
      logger[level] = isOpen ? (message, data) => write(state, severity, message, data) : noop;
    });
    Object.assign(logger, shared);
    logger.category = (name, kind) => {
      const { category, type, note } = placeOf(name, kind);
      return build(category, type, note ? merged(own, fieldsOf(note)) : own);
    };
    logger.child = (fields) => build(category, type, merged(own, fieldsOf(fields)));
    logger.explain = (level, message = "", data = undefined) => explain(state, level, message, data);
    Object.defineProperty(logger, "sessionId", { get: () => own.ids.session ?? sessionOf() });
    // SAFETY: the prototype answers for the scopes.
    return logger as unknown as Logger;
  }

  const shared = {
    entries,
    flush,
    close,
    stats,
    withContext<T>(fields: object, work: () => T): T {
      contexts ??= runtime.createContext();
      const outer = contexts.get();
      const mine = fieldsOf(fields);
      return contexts.run({ ...(outer ? merged(outer, mine) : mine), views: new WeakMap() }, work);
    },
    [Symbol.asyncDispose ?? "asyncDispose"]: () => close(),
  };

  function stats(): LoggerStats {
    const all: LoggerStats = { ...NO_STATS, ...counts };
    for (const { queue } of outputs) {
      if (!queue) all.delivered += counts.logged;
      else for (const [name, n] of Object.entries(queue.stats())) all[name as keyof LoggerStats] += n;
    }
    return all;
  }

  async function flush({ timeoutMs: ms = FLUSH_MS }: { timeoutMs?: number } = {}): Promise<FlushResult> {
    const before = stats();
    await within(ms, (output) => output.queue?.flush(ms));
    await within(ms, (output) => output.flush?.());
    const { delivered, dropped, pending } = stats();
    return { delivered: delivered - before.delivered, dropped: dropped - before.dropped, pending };
  }

  /** Waits for all outputs, but not for ever; a failure is reported. */
  async function within(ms: number, work: (output: (typeof outputs)[number]) => void | Promise<void>): Promise<void> {
    let deadline: ReturnType<typeof setTimeout> | undefined;
    const all = Promise.all(outputs.map(async (output) => work(output))).catch(report);
    await Promise.race([
      all,
      new Promise((resolve) => {
        deadline = setTimeout(resolve, ms);
      }),
    ]);
    clearTimeout(deadline);
  }

  async function close(limits: { timeoutMs?: number } = {}): Promise<FlushResult> {
    for (const queue of queues) queue.close();
    const result = await flush(limits);
    await within(limits.timeoutMs ?? FLUSH_MS, (output) => output.close?.());
    stopIdle();
    return result;
  }

  let seenIdle = 0;
  const stopIdle = runtime.onIdle(() => {
    // Once for what is there: a destination that stays away must not hold the process for ever.
    if (counts.logged > seenIdle && stats().pending > 0) flush();
    seenIdle = counts.logged;
  });

  return { logger: build("custom", "log", { ids: {}, data: {} }), queues, report };
}

/** What the call's second argument means; an error as message brings itself. */
function dataOf(message: unknown, data: unknown): object | undefined {
  const fields = data == null ? undefined : typeof data === "object" ? data : { value: data };
  if (typeof message === "string" || !isError(message)) return fields;
  if (!fields) return message;
  try {
    return { error: message, ...fields };
  } catch {
    return { error: message, data: fields };
  }
}
