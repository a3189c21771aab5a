import { runtime } from "#runtime";
import { isoTime } from "./clock.ts";
import { CATEGORY_TYPES, LEVELS } from "./levels.ts";
import { batchSettings, checkCommon, samplingRates, severityOf } from "./options.ts";
import { createRedactor } from "./redact.ts";
import type { ContextStore } from "./runtime/runtime.ts";
import { loggerPrototype } from "./scopes.ts";
import { createEncoder, decodeText, encodeText, type Frame, isError } from "./serialize.ts";
import { traceIds, unitHash } from "./trace.ts";
import type { MakeOutputs } from "./transports/outputs.ts";
import { asError, type Queue, type QueueEvents } from "./transports/queue.ts";
import type {
  Explanation,
  FlushResult,
  LogData,
  LogEntry,
  Logger,
  LoggerMethods,
  LoggerOptions,
  LoggerStats,
  LogLevel,
  LogMethod,
} from "./types.ts";

/** Bytes of JSON that `defaultMeta`, children and contexts may add to an entry. */
const MAX_META_BYTES = 64 * 1024;
/** Characters of a session or trace id. */
const MAX_ID = 256;
/** Characters of a category or type, as the service takes them. */
const MAX_NAME = 64;
const FLUSH_MS = 10_000;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)$/;

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
  view: View | undefined;
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
  report(error: Error): void;
}

export function assemble(options: LoggerOptions, makeOutputs: MakeOutputs): Assembly {
  checkCommon(options);
  const { beforeSend, onError, onDrop, debug = false, defaultMeta = {} } = options;
  const lowest = severityOf("level", options.level);
  const rates = samplingRates(options.sampling);
  const allowed = options.categories ? new Set<string>(options.categories) : null;
  const denied = new Set<string>(options.excludeCategories ?? []);
  const encoder = createEncoder(createRedactor(options.apiKey ?? "", options.redact ?? []));
  const entries: LogEntry[] = [];
  let session = options.sessionId ?? "";
  let logged = 0;
  let sampledOut = 0;
  let filtered = 0;
  let dropped = 0;
  let isReporting = false;
  let isInHook = false;

  const events: QueueEvents = {
    error: report,
    drop(lost, count, reason) {
      if (debug) console.warn(`taffrail: ${count} dropped (${reason})`);
      // What a callback logs must not call it again.
      if (onDrop && !isReporting) guarded(() => onDrop(lost(), reason));
    },
  };
  const outputs = makeOutputs(options, batchSettings(options.batch), events, entries);
  const queues = outputs.flatMap(({ queue }) => queue ?? []);
  const root = fieldsOf(defaultMeta);

  function report(error: Error): void {
    if (debug) console.warn("taffrail:", error);
    if (onError && !isReporting) guarded(() => onError(error));
  }

  /** Runs a callback of the user's: it must neither throw into a log call nor call itself. */
  function guarded(callback: () => void): void {
    isReporting = true;
    try {
      callback();
    } catch (error) {
      if (debug) console.warn("taffrail:", error);
    }
    isReporting = false;
  }

  function fieldsOf(fields: object): Fields {
    const data: Record<string, string> = Object.create(null);
    const ids: Fields["ids"] = {};
    try {
      for (const [name, value] of Object.entries(fields)) {
        if (name === "traceparent") Object.assign(ids, traceIds(value));
        else if (name === "session" || name === "traceId" || name === "spanId") {
          if (typeof value === "string" && value !== "") ids[name] = value.slice(0, MAX_ID);
        } else {
          const json = encoder.json({ [name]: value }).slice(1, -1);
          if (json !== "") data[name] = json;
        }
      }
    } catch (error) {
      report(asError(error));
    }
    return { ids, data };
  }

  function merged(...all: Fields[]): Fields {
    return {
      ids: Object.assign({}, ...all.map(({ ids }) => ids)),
      data: Object.assign(Object.create(null), ...all.map(({ data }) => data)),
    };
  }

  function viewOf(state: State, context: Context | undefined): View {
    const known = context ? context.views.get(state) : state.view;
    if (known) return known;
    const fields = context ? merged(root, context, state.own) : merged(root, state.own);
    const key = fields.ids.traceId ?? fields.ids.session ?? options.sessionId;
    const view = { ...fields, frames: [], draw: key === undefined ? undefined : unitHash(key) };
    if (context) context.views.set(state, view);
    else state.view = view;
    return view;
  }

  function frameOf(
    { category, type }: Pick<State, "category" | "type">,
    { ids, data }: Fields,
    severity: number,
    without?: object,
  ): Frame {
    const rate = rates[severity] ?? 1;
    const all = rate < 1 ? { ...data, sampleRate: `"sampleRate":${rate}` } : data;
    let meta = Object.entries(all)
      .filter(([name]) => !without || !(name in without))
      .map(([, json]) => json)
      .join(",");
    if (meta.length > MAX_META_BYTES) meta = '"[Truncated]":true';
    const { session: own = sessionOf(), ...trace } = ids;
    const after = JSON.stringify({ session: own, ...trace }).slice(1, -1);
    const before = JSON.stringify({ level: LEVELS[severity], category, type }).slice(1, -1);
    return {
      before: encodeText(`",${before},"message":`),
      after: encodeText(`,${masked(after)}`),
      meta: encodeText(meta),
    };
  }

  /** Made at first use: some platforms have no randomness before the first request. */
  function sessionOf(): string {
    session ||= crypto.randomUUID();
    return session;
  }

  /** An id may be anything a caller passes on, the own key included. */
  function masked(json: string): string {
    const key = options.apiKey ?? "";
    return key === "" ? json : json.replaceAll(key, "[REDACTED]");
  }

  function write(state: State, severity: number, message: unknown, data: unknown): void {
    try {
      const view = contexts === undefined ? (state.view ?? viewOf(state, undefined)) : viewOf(state, contexts.get());
      const rate = rates[severity] ?? 1;
      if (rate < 1 && (view.draw ?? Math.random()) >= rate) {
        sampledOut++;
        return;
      }
      let frame = view.frames[severity];
      if (frame === undefined) frame = view.frames[severity] = frameOf(state, view, severity);
      const fields = dataOf(message, data);
      // A field of the call's own stands for the one every entry has.
      if (fields !== undefined && frame.meta.length > 0 && overlaps(fields, view)) {
        frame = frameOf(state, view, severity, fields);
      }
      const now = Date.now();
      if (beforeSend === undefined) encoder.entry(frame, isoTime(now), message, fields, severity, now, emit);
      else hooked(frame, message, fields, severity, now);
    } catch (error) {
      report(asError(error));
    }
  }

  function overlaps(fields: object, { data }: View): boolean {
    for (const name in fields) if (name in data || name === "sampleRate") return true;
    return false;
  }

  function emit(line: Uint8Array, severity: number, now: number): void {
    logged++;
    for (const output of outputs) {
      try {
        output.write(line, severity, now);
      } catch (error) {
        report(asError(error));
      }
    }
  }

  function hooked(frame: Frame, message: unknown, data: object | undefined, severity: number, now: number): void {
    const time = isoTime(now);
    let json = "";
    encoder.entry(frame, time, message, data, severity, now, (line) => {
      json = decodeText(line);
    });
    const seen = ask(json);
    if (seen === null) {
      filtered++;
      return;
    }
    const { timestamp, level, category, type, message: text, session, traceId, spanId, data: own, ...others } = seen;
    const place = placeOf(category, type);
    const { ids } = fieldsOf({ session, traceId, spanId });
    const at = typeof timestamp === "string" && TIME.test(timestamp) ? timestamp : time;
    const final = LEVELS.includes(level) ? LEVELS.indexOf(level) : severity;
    const bare = frameOf(place, { ids, data: {} }, final, { sampleRate: 1 });
    const rest = Object.keys(others).length > 0 || place.note ? { ...others, ...place.note, ...own } : own;
    encoder.entry(bare, at, text, rest, final, now, emit);
  }

  /** What `beforeSend` makes of an entry. One that fails drops it: it may be what keeps private data back. */
  function ask(json: string): LogEntry | null {
    const entry: LogEntry = JSON.parse(json);
    try {
      if (isInHook) throw new Error("beforeSend logged.");
      isInHook = true;
      const seen = beforeSend?.(entry);
      if (seen === null) return null;
      if (typeof seen !== "object" || "then" in seen) throw new TypeError("beforeSend must return an entry or null.");
      return seen;
    } catch (error) {
      dropped++;
      report(asError(error));
      events.drop(() => [JSON.parse(json)], 1, "before-send");
      return null;
    } finally {
      isInHook = false;
    }
  }

  function explain(state: State, level: LogLevel, message: string, data: LogData | undefined): Explanation {
    const severity = LEVELS.indexOf(level);
    if (severity < lowest) {
      return { sent: false, step: "level", reason: `${level} is below ${LEVELS[lowest]}` };
    }
    if (!isWanted(state.category)) {
      return { sent: false, step: "category", reason: `${state.category} is filtered out` };
    }
    const view = viewOf(state, contexts?.get());
    const rate = rates[severity] ?? 1;
    if (rate === 0 || (rate < 1 && view.draw !== undefined && view.draw >= rate)) {
      return { sent: false, step: "sampling", reason: `rate ${rate} of ${level}` };
    }
    if (beforeSend) {
      let json = "";
      const now = Date.now();
      const frame = frameOf(state, view, severity, data);
      encoder.entry(frame, isoTime(now), message, dataOf(message, data), severity, now, (line) => {
        json = decodeText(line);
      });
      try {
        if (!beforeSend(JSON.parse(json))) return { sent: false, step: "beforeSend", reason: "it returned null" };
      } catch (error) {
        return { sent: false, step: "beforeSend", reason: `it threw: ${asError(error).message}` };
      }
    }
    const chance = rate < 1 && view.draw === undefined ? `, with chance ${rate}` : "";
    return { sent: true, step: "transport", reason: `handed to ${outputs.length} transport(s)${chance}` };
  }

  function isWanted(category: string): boolean {
    return (allowed === null || allowed.has(category)) && !denied.has(category);
  }

  function build(category: string, type: string, own: Fields): Logger {
    const state: State = { category, type, own, view: undefined };
    const wanted = isWanted(category);
    // SAFETY: all members are assigned below; scopes come from the prototype.
    const logger = Object.create(loggerPrototype) as { -readonly [K in keyof LoggerMethods]: LoggerMethods[K] };
    LEVELS.forEach((level, severity) => {
      logger[level] =
        wanted && severity >= lowest && rates[severity] !== 0
          ? (message, data) => write(state, severity, message, data)
          : noop;
    });
    logger.category = (name, kind) => {
      const { category, type, note } = placeOf(name, kind);
      return build(category, type, note ? merged(own, fieldsOf(note)) : own);
    };
    logger.child = (fields) => build(category, type, merged(own, fieldsOf(fields)));
    logger.withContext = (fields, work) => {
      contexts ??= runtime.createContext();
      const outer = contexts.get();
      const mine = fieldsOf(fields);
      return contexts.run({ ...(outer ? merged(outer, mine) : mine), views: new WeakMap() }, work);
    };
    logger.flush = flush;
    logger.close = close;
    logger.stats = stats;
    logger.explain = (level, message = "", data = undefined) => explain(state, level, message, data);
    Object.defineProperties(logger, {
      entries: { get: () => entries },
      sessionId: { get: () => own.ids.session ?? sessionOf() },
    });
    if (Symbol.asyncDispose) logger[Symbol.asyncDispose] = () => close().then(() => {});
    // SAFETY: the prototype answers for the scopes.
    return logger as unknown as Logger;
  }

  function stats(): LoggerStats {
    const all: LoggerStats = {
      logged,
      sampledOut,
      filtered: filtered - dropped,
      delivered: 0,
      dropped,
      pending: 0,
      pendingBytes: 0,
      requests: 0,
      retries: 0,
    };
    for (const output of outputs) {
      if (!output.queue) all.delivered += logged;
      else for (const [name, n] of Object.entries(output.queue.stats())) all[name as keyof LoggerStats] += n;
    }
    return all;
  }

  async function flush({ timeoutMs = FLUSH_MS }: { timeoutMs?: number } = {}): Promise<FlushResult> {
    const ms = timeoutMs >= 0 ? timeoutMs : FLUSH_MS;
    const before = stats();
    await within(
      ms,
      outputs.map((output) => output.queue?.flush(ms)),
    );
    await within(
      ms,
      outputs.map((output) => output.flush?.()),
    );
    const { delivered, dropped, pending } = stats();
    return { delivered: delivered - before.delivered, dropped: dropped - before.dropped, pending };
  }

  /** Waits for all, but not for ever; a transport's failure is reported. */
  async function within(ms: number, work: (void | Promise<void> | undefined)[]): Promise<void> {
    const slow = work.filter((one) => one !== undefined);
    if (slow.length === 0) return;
    let deadline: ReturnType<typeof setTimeout> | undefined;
    const done = Promise.all(slow).catch((error: unknown) => report(asError(error)));
    await Promise.race([done, new Promise((resolve) => (deadline = setTimeout(resolve, ms)))]);
    clearTimeout(deadline);
  }

  async function close(options?: { timeoutMs?: number }): Promise<FlushResult> {
    for (const queue of queues) queue.close();
    const result = await flush(options);
    await within(
      options?.timeoutMs ?? FLUSH_MS,
      outputs.map((output) => output.close?.()),
    );
    stopIdle();
    return result;
  }

  let seenIdle = 0;
  const stopIdle = runtime.onIdle(() => {
    // Once for what is there: a destination that stays away must not hold the process for ever.
    if (logged === seenIdle || stats().pending === 0) return;
    seenIdle = logged;
    flush();
  });

  return { logger: build("custom", "log", { ids: {}, data: {} }), queues, report };
}

/** What the call's second argument means; an error as message brings itself. */
function dataOf(message: unknown, data: unknown): object | undefined {
  const fields = typeof data === "object" ? (data ?? undefined) : data === undefined ? undefined : { value: data };
  if (!isError(message)) return fields;
  if (fields === undefined) return message;
  try {
    return { error: message, ...fields };
  } catch {
    return { error: message, data: fields };
  }
}

/** A category and type the service takes. A type its category does not have is kept in `data`. */
function placeOf(category: unknown, type: unknown): { category: string; type: string; note?: { invalidType: string } } {
  const name = nameOf(category, "custom");
  const types = CATEGORY_TYPES[name];
  if (!types) return { category: name, type: nameOf(type, "log") };
  const [first = "log"] = types;
  if (type === undefined) return { category: name, type: first };
  const kind = nameOf(type, first);
  return types.includes(kind)
    ? { category: name, type: kind }
    : { category: name, type: first, note: { invalidType: kind } };
}

function nameOf(value: unknown, fallback: string): string {
  const name = typeof value === "string" ? value : value === undefined ? "" : String(value);
  return name.slice(0, MAX_NAME).toWellFormed() || fallback;
}
