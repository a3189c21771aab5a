import {
  CATEGORY_TYPES,
  DEFAULT_CATEGORY,
  DEFAULT_LEVEL,
  DEFAULT_TYPE,
  type Entry,
  INGEST_LIMITS,
  LEVELS,
  OWN_MEMBERS,
} from "../../logs/entry.ts";
import { MAX_TIME_MS } from "../../logs/ingest/timestamp.ts";
import { define, isOwnText, MAX_ENTRY_AGE_MS, type ValidEntry } from "../../logs/ingest/validate.ts";
import type { DoorEntry } from "../entry.ts";
import { cutTexts, cutTo, fitValues, freeName, textOf } from "./fit-data.ts";

/** Name of the member of `data` that says what was changed in an entry so that it could be stored. */
export const MARK = "_taffrail";

/** What was changed in an entry. */
interface Marks {
  /** The time as sent, if the timestamp does not say all of it: it has more digits, is out of range or is no time. */
  timestamp?: string | number;
  /** The level as sent, if the level does not say all of it. */
  level?: string | number;
  category?: string;
  type?: string;
  /** Original lengths of texts that were cut, in UTF-16 units, by path. */
  cut?: Record<string, number>;
  /** The client's own member of that name. */
  sent?: unknown;
}

/** UTF-8 bytes of a UTF-16 unit at most. */
const MAX_UNIT_BYTES = 3;
/** Bytes of a mark, beside the texts that it holds. */
const MARK_BYTES = 4 * 1024;
/** UTF-16 units of a message that is made of a record without one. */
const MADE_MESSAGE_LENGTH = 1_000;
const NO_MESSAGE = "(no message)";

const SEVERITY = new Map<string, number>(LEVELS.map((level, index) => [level, index]));
const TYPES_OF = new Map<string, readonly string[]>(Object.entries(CATEGORY_TYPES));

/** An entry that can be stored, and its line. */
export interface FittedEntry extends ValidEntry {
  line: string;
  /** Characters and values of the entry before it was cut; `undefined` if it was not. */
  sent?: { length: number; values: number };
}

/** Makes entries of the records of one request. What can be kept is kept, and `data._taffrail` says what was changed. */
export class EntryFitter {
  /** Entries with an earlier time get the time of receipt, epoch milliseconds; `null` if the retention is not known yet. */
  oldest: number | null = null;
  readonly #now: number;
  readonly #receivedAt: string;
  #second = "";
  #secondMs = Number.NaN;

  /** @param now epoch milliseconds of the receipt */
  constructor(now: number) {
    this.#now = now;
    this.#receivedAt = new Date(now).toISOString();
  }

  /** Epoch milliseconds of the receipt. */
  get now(): number {
    return this.#now;
  }

  fit(sent: DoorEntry): FittedEntry {
    if (sent.json !== undefined) {
      const fitted = this.#fitJson(sent, sent.json);
      if (fitted !== null) return fitted;
      // SAFETY: the JSON of an object.
      sent.data = JSON.parse(`{${sent.json.members}}`) as Record<string, unknown>;
    }
    const marks: Marks = { ...sent.marks };
    const ms = this.#timeOf(sent, marks);
    const entry = this.#entryOf(sent, ms, marks);
    const values = entry.data === undefined ? 0 : fitValues(entry.data);
    const severity = SEVERITY.get(entry.level) ?? 0;
    const line = JSON.stringify(entry);
    if (values <= INGEST_LIMITS.entryValues && !isLarge(line)) return { entry, ms, severity, values, line };
    const cut = this.#cut(entry, values, line, marks);
    return { ...cut, ms, severity, line: JSON.stringify(cut.entry), sent: { length: line.length, values } };
  }

  /** Makes an entry whose data are JSON already. @returns `null` if its data have to be changed or are needed */
  #fitJson(sent: DoorEntry, { members, values }: { members: string; values: number }): FittedEntry | null {
    if (values > INGEST_LIMITS.entryValues || sent.message === null || sent.message === "") return null;
    const marks: Marks = { ...sent.marks };
    const ms = this.#timeOf(sent, marks);
    const added: Record<string, unknown> = {};
    const entry = this.#headOf(sent, ms, added, marks);
    const own = isEmpty(added) ? "" : JSON.stringify(added).slice(1, -1);
    const data = own === "" ? members : members === "" ? own : `${members},${own}`;
    const head = JSON.stringify(entry);
    const line = data === "" ? head : `${head.slice(0, -1)},"data":{${data}}}`;
    return isLarge(line) ? null : { entry, ms, severity: SEVERITY.get(entry.level) ?? 0, values, line };
  }

  /** Returns a stored line with the time of receipt if it is older than `oldest`. */
  moved(line: string, oldest: number): FittedEntry {
    // SAFETY: `fit` has made the line.
    const entry = JSON.parse(line) as Entry;
    const severity = SEVERITY.get(entry.level) ?? 0;
    const ms = Date.parse(entry.timestamp);
    if (ms >= oldest) return { entry, ms, severity, values: 0, line };
    const mark = markOf(entry);
    const data = { ...entry.data, [MARK]: { ...mark, timestamp: mark.timestamp ?? entry.timestamp } };
    const { timestamp: _, data: __, ...rest } = entry;
    const moved: Entry = { timestamp: this.#receivedAt, ...rest, data };
    return { entry: moved, ms: this.#now, severity, values: 0, line: JSON.stringify(moved) };
  }

  /** Whether a time may be the timestamp of an entry, epoch milliseconds. */
  accepts(ms: number): boolean {
    return ms >= (this.oldest ?? this.#now - MAX_ENTRY_AGE_MS) && ms <= this.#now + INGEST_LIMITS.futureMs;
  }

  /** Whether a time, epoch milliseconds, may be the one of an entry, whatever the retention is. */
  isPlausible(ms: number): boolean {
    return ms >= this.#now - MAX_ENTRY_AGE_MS && ms <= this.#now + INGEST_LIMITS.futureMs;
  }

  /** Returns the entry's timestamp, epoch milliseconds. */
  #timeOf({ time, sentTime }: DoorEntry, marks: Marks): number {
    if (sentTime !== undefined) marks.timestamp = sentTime;
    if (time === null) return this.#now;
    const ms = Math.floor(time);
    if (this.accepts(ms)) return ms;
    marks.timestamp = sentTime ?? sentText(time);
    return this.#now;
  }

  #entryOf(sent: DoorEntry, ms: number, marks: Marks): Entry {
    const entry = this.#headOf(sent, ms, sent.data, marks);
    if (!isEmpty(sent.data)) entry.data = sent.data;
    return entry;
  }

  /** Returns an entry without its data, to which it adds what the entry has no other place for. */
  #headOf(sent: DoorEntry, ms: number, data: Record<string, unknown>, marks: Marks): Entry {
    const { level, sentLevel, session, traceId, spanId } = sent;
    if (sentLevel !== undefined) marks.level = sentLevel;
    const category = nameOr(sent.category, DEFAULT_CATEGORY);
    if (sent.category !== undefined && category !== sent.category) marks.category = sent.category;
    const type = typeOf(category, sent.type);
    if (sent.type !== undefined && type !== sent.type) marks.type = sent.type;
    for (const name of OWN_MEMBERS) {
      const own = sent[name];
      // A text that cannot be an own member is kept in `data`, where queries find it, too.
      if (own !== undefined && !isOwnText(own)) data[freeName(data, name)] = own;
    }
    const message = sent.message === null || sent.message === "" ? madeMessage(data) : sent.message;
    const entry: Entry = { timestamp: this.#iso(ms), level: level ?? DEFAULT_LEVEL, category, type, message };
    if (session !== undefined && session !== "") entry.session = session;
    if (traceId !== undefined && traceId !== "") entry.traceId = traceId;
    if (spanId !== undefined && spanId !== "") entry.spanId = spanId;
    if (isOwnText(sent.service)) entry.service = sent.service;
    if (isOwnText(sent.host)) entry.host = sent.host;
    // A client's own member of that name is always moved, so that a later change of the entry knows whose it is.
    if (!isEmpty(marks) || Object.hasOwn(data, MARK)) addMarks(data, marks);
    return entry;
  }

  #iso(ms: number): string {
    if (ms === this.#now) return this.#receivedAt;
    const rest = ms % 1000;
    if (ms - rest !== this.#secondMs) {
      this.#secondMs = ms - rest;
      this.#second = new Date(this.#secondMs).toISOString().slice(0, 20);
    }
    return `${this.#second}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}Z`;
  }

  /** Makes a large entry fit: cuts its largest texts, or else keeps the beginning of its JSON. */
  #cut(entry: Entry, values: number, line: string, marks: Marks): Pick<ValidEntry, "entry" | "values"> {
    if (values <= INGEST_LIMITS.entryValues) {
      // A copy, because records may share parts of their data.
      // SAFETY: the line is the JSON of an entry.
      const copy = JSON.parse(line) as Entry;
      const excess = Buffer.byteLength(line) - INGEST_LIMITS.entryBytes + MARK_BYTES;
      const { timestamp, level, category, type, ...texts } = copy;
      const cut = cutTexts(texts, excess);
      if (cut !== null) {
        const data = { ...copy.data, [MARK]: { ...markOf(copy), cut: { ...shortened(cut), ...marks.cut } } };
        const fitted: Entry = { timestamp, level, category, type, ...texts, data };
        if (!isLarge(JSON.stringify(fitted))) return { entry: fitted, values };
      }
    }
    const text = textOf(entry.data);
    const { timestamp, level, category, type, message: sent, data: _, ...texts } = entry;
    for (const name of ["session", "traceId", "spanId"] as const) {
      const id = texts[name];
      if (id !== undefined) texts[name] = cutTo(id, ID_BYTES);
    }
    const message = cutTo(sent, INGEST_LIMITS.entryBytes >> 2);
    const length = message === sent ? {} : { message: sent.length };
    const cut = { data: text.length, ...length, ...marks.cut };
    const json = cutTo(text, INGEST_LIMITS.entryBytes >> 1);
    const data = { json, [MARK]: { ...shortMarks(marks), cut } };
    return { entry: { timestamp, level, category, type, message, ...texts, data }, values: 5 };
  }
}

function isLarge(line: string): boolean {
  const { entryBytes } = INGEST_LIMITS;
  return line.length * MAX_UNIT_BYTES > entryBytes && Buffer.byteLength(line) > entryBytes;
}

/** A valid name of a category or type, or the default. */
function nameOr(name: string | undefined, fallback: string): string {
  if (name === undefined || name === "" || name.length > INGEST_LIMITS.nameLength) return fallback;
  return name.isWellFormed() ? name : fallback;
}

function typeOf(category: string, type: string | undefined): string {
  const types = TYPES_OF.get(category);
  if (types === undefined) return nameOr(type, DEFAULT_TYPE);
  return type !== undefined && types.includes(type) ? type : (types[0] ?? DEFAULT_TYPE);
}

/** The text of a record without a message: its JSON, of which nothing is lost, because it is in `data`. */
function madeMessage(data: Record<string, unknown>): string {
  if (isEmpty(data)) return NO_MESSAGE;
  const text = textOf(data);
  return text.length <= MADE_MESSAGE_LENGTH ? text : `${text.slice(0, MADE_MESSAGE_LENGTH - 1).toWellFormed()}…`;
}

function isEmpty(members: object): boolean {
  for (const _ in members) return false;
  return true;
}

/** The mark of an entry; empty without one. */
function markOf({ data }: Entry): Marks {
  const mark = data !== undefined && Object.hasOwn(data, MARK) ? data[MARK] : undefined;
  // SAFETY: `addMarks` has made the member.
  return typeof mark === "object" && mark !== null && !Array.isArray(mark) ? (mark as Marks) : {};
}

/** Adds marks to `data`. A client's own member of that name is kept in them. */
function addMarks(data: Record<string, unknown>, marks: Marks): void {
  data[MARK] = Object.hasOwn(data, MARK) ? { ...marks, sent: data[MARK] } : marks;
}

/** Bytes of an id of an entry whose data have to be cut as a whole. */
const ID_BYTES = 1024;
const SHOWN_PATHS = 20;
const SHOWN_PATH = 200;

/** The lengths of cut texts, few and with short paths. */
function shortened(cut: Record<string, number>): Record<string, number> {
  const shown: Record<string, number> = {};
  for (const [path, length] of Object.entries(cut).slice(0, SHOWN_PATHS)) {
    define(shown, path.length > SHOWN_PATH ? `${path.slice(0, SHOWN_PATH).toWellFormed()}…` : path, length);
  }
  return shown;
}

/** Marks whose texts are short. */
function shortMarks(marks: Marks): Marks {
  const short: Marks = {};
  for (const name of ["timestamp", "level", "category", "type"] as const) {
    const value = marks[name];
    if (value === undefined) continue;
    Object.assign(short, { [name]: typeof value === "string" ? value.slice(0, SHOWN_PATH).toWellFormed() : value });
  }
  return short;
}

function sentText(time: number): string | number {
  return time >= 0 && time <= MAX_TIME_MS ? new Date(time).toISOString() : Number.isFinite(time) ? time : String(time);
}
