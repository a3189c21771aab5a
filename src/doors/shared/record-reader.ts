import type { Level } from "../../logs/entry.ts";
import { type NamedPart, PART, PartNames } from "../../logs/ingest/plain-record.ts";
import { define } from "../../logs/ingest/validate.ts";
import type { DoorEntry } from "../entry.ts";
import { MARK } from "./entry-fitter.ts";
import { type LevelScale, levelOf } from "./levels.ts";
import { NOT_JSON, parseText } from "./parse-text.ts";
import { PlainLines } from "./plain-lines.ts";
import { type ReadTime, type TimeUnit, timeOf } from "./times.ts";
import { SCALES, UNITS, USUAL } from "./usual-names.ts";

/** Parts of an entry that a mapping may name. */
export const MAPPED = [
  "message",
  "time",
  "level",
  "service",
  "host",
  "traceId",
  "spanId",
  "session",
  "category",
  "type",
] as const;
export type Mapped = (typeof MAPPED)[number];

/**
 * Names of members, for each part of an entry in order of preference. They come before the usual names. A name with dots
 * is a member of that name, or the path to a nested one.
 */
export type Mapping = Readonly<Partial<Record<Mapped, readonly string[]>>>;

/** A place of an entry, and how much its name is preferred: 0 the most. */
interface Place {
  slot: number;
  rank: number;
  scale: LevelScale;
  unit: TimeUnit;
}

interface NestedPlace extends Place {
  path: readonly string[];
}

const [MESSAGE, TIME, LEVEL, SERVICE, HOST, TRACE, SPAN, SESSION, CATEGORY, TYPE] = MAPPED.keys();
const NO_NAME = "";

/** Reads records, any JSON objects, as entries. */
export class RecordReader {
  readonly #places = new Map<string, Place>();
  readonly #nested = new Map<string, NestedPlace[]>();
  readonly #ranks: number[] = MAPPED.map(() => 0);
  /** Names of the members that were taken, by slot. */
  readonly #names: string[] = MAPPED.map(() => NO_NAME);
  /** What was read of the members that were taken, by slot, and their values as sent. */
  readonly #values: unknown[] = MAPPED.map(() => undefined);
  readonly #sent: unknown[] = MAPPED.map(() => undefined);
  readonly #lines = new Map<string, PlainLines>();

  /** Names that come before the usual ones. */
  readonly mapping: Mapping;

  constructor(mapping: Mapping = {}) {
    this.mapping = mapping;
    MAPPED.forEach((mapped, slot) => {
      this.#learn(mapping[mapped] ?? [], slot, 0);
    });
    MAPPED.forEach((mapped, slot) => {
      this.#learn(USUAL[mapped], slot, mapping[mapped]?.length ?? 0);
    });
  }

  /** Reads records of canonical values without parsing them, by the same names. */
  get lines(): PlainLines {
    return this.linesBeside();
  }

  /** Like `lines`. Records with members of these names, which envelopes set, are parsed. */
  linesBeside(...names: string[]): PlainLines {
    const key = names.join();
    const lines = this.#lines.get(key) ?? new PlainLines(new PartNames(this.#plainNames(names)));
    this.#lines.set(key, lines);
    return lines;
  }

  *#plainNames(parsed: readonly string[]): Generator<readonly [string, NamedPart]> {
    const other = { rank: 0, how: null, isNested: false };
    yield ["data", { ...other, part: PART.data }];
    for (const name of [MARK, ...parsed]) yield [name, { ...other, part: PART.parsed }];
    for (const [name, { slot, rank, scale, unit }] of this.#places) {
      // The slots have the numbers of the parts.
      if (name !== "data" && name !== MARK && !parsed.includes(name)) {
        yield [name, { part: slot, rank, how: { scale, unit }, isNested: this.#nested.has(name) }];
      }
    }
    for (const name of this.#nested.keys()) {
      if (!this.#places.has(name) && !parsed.includes(name))
        yield [name, { ...other, part: PART.none, isNested: true }];
    }
  }

  /** @param record a parsed JSON object, which becomes part of the entry */
  read(record: Record<string, unknown>): DoorEntry {
    const data: Record<string, unknown> = {};
    const values = this.#values;
    values.fill(undefined);
    this.#ranks.fill(Number.POSITIVE_INFINITY);
    this.#names.fill(NO_NAME);
    for (const name in record) {
      const value = record[name];
      const place = this.#places.get(name);
      if (place === undefined || !this.#take(place, name, value, data)) define(data, name, value);
      if (typeof value === "object" && value !== null) this.#takeNested(name, value);
    }
    // SAFETY: `#take` stores what the part of the slot is read as.
    const time = values[TIME ?? 0] as ReadTime | undefined;
    const level = values[LEVEL ?? 0] as TakenLevel | undefined;
    const entry: DoorEntry = {
      time: time?.time ?? null,
      level: level?.level ?? null,
      message: textOrNull(values[MESSAGE ?? 0]),
      data: unfolded(data),
    };
    if (time?.sent !== undefined) entry.sentTime = time.sent;
    if (level?.sent !== undefined) entry.sentLevel = level.sent;
    setText(entry, "service", values[SERVICE ?? 0]);
    setText(entry, "host", values[HOST ?? 0]);
    setText(entry, "traceId", values[TRACE ?? 0]);
    setText(entry, "spanId", values[SPAN ?? 0]);
    setText(entry, "session", values[SESSION ?? 0]);
    setText(entry, "category", values[CATEGORY ?? 0]);
    setText(entry, "type", values[TYPE ?? 0]);
    return entry;
  }

  /**
   * Reads any JSON value: an object as a record, any other value as the text of a message; `null` for `null`, which says
   * nothing.
   */
  readValue(value: unknown): DoorEntry | null {
    if (value === null || value === undefined) return null;
    if (typeof value === "object" && !Array.isArray(value)) {
      // SAFETY: an object of JSON that is not an array.
      return this.read(value as Record<string, unknown>);
    }
    if (Array.isArray(value)) return { time: null, level: null, message: null, data: { items: value } };
    return recordOf(String(value));
  }

  /** Reads a line of text: a JSON object as a record, any other line as a message. */
  readLine(line: string): DoorEntry {
    const record = line.startsWith("{") ? parsedRecord(line) : null;
    return record === null ? recordOf(line) : this.read(record);
  }

  /** A name has the first place that it was learned for. */
  #learn(names: readonly string[], slot: number, firstRank: number): void {
    names.forEach((name, index) => {
      const place = { slot, rank: firstRank + index, scale: SCALES[name] ?? "any", unit: UNITS[name] ?? "any" };
      if (!this.#places.has(name)) this.#places.set(name, place);
      const [first = "", ...path] = name.split(".");
      if (path.length === 0) return;
      const places = this.#nested.get(first) ?? [];
      places.push({ ...place, path });
      this.#nested.set(first, places);
    });
  }

  /** Takes a member for its place, if no preferred one was taken. The one before it goes to `data`. */
  #take({ slot, rank, scale, unit }: Place, name: string, value: unknown, data: Record<string, unknown>): boolean {
    if (rank > (this.#ranks[slot] ?? 0)) return false;
    const read = valueFor(slot, value, scale, unit);
    if (read === undefined) return false;
    const before = this.#names[slot] ?? NO_NAME;
    if (before !== NO_NAME) define(data, before, this.#sent[slot]);
    this.#ranks[slot] = rank;
    this.#values[slot] = read;
    // A value of another type says more than its text.
    const isWhole = slot !== MESSAGE || typeof value === "string";
    this.#names[slot] = isWhole ? name : NO_NAME;
    this.#sent[slot] = value;
    return isWhole;
  }

  /** Takes members of a nested object, which stays in `data`. */
  #takeNested(name: string, value: object): void {
    for (const { slot, rank, scale, unit, path } of this.#nested.get(name) ?? []) {
      if (rank > (this.#ranks[slot] ?? 0) || this.#names[slot] !== NO_NAME) continue;
      const read = valueFor(slot, valueAt(value, path), scale, unit);
      if (read === undefined) continue;
      this.#ranks[slot] = rank;
      this.#values[slot] = read;
    }
  }
}

interface TakenLevel {
  level: Level;
  sent?: string | number;
}

/** Returns a member's value as a part of an entry; `undefined` if it cannot be that part. */
function valueFor(slot: number, value: unknown, scale: LevelScale, unit: TimeUnit): unknown {
  switch (slot) {
    case MESSAGE:
      return messageOf(value);
    case TIME:
      return timeOf(value, unit) ?? undefined;
    case LEVEL:
      return takenLevel(value, scale);
    case TRACE:
    case SPAN:
      return typeof value === "string" && /[^0]/.test(value) ? value : undefined;
    default:
      return typeof value === "string" && value !== "" ? value : undefined;
  }
}

function takenLevel(value: unknown, scale: LevelScale): TakenLevel | undefined {
  const read = levelOf(value, scale);
  if (read === null) return undefined;
  const isText = typeof value === "string" || typeof value === "number";
  return read.isExact || !isText ? { level: read.level } : { level: read.level, sent: value };
}

function messageOf(value: unknown): string | undefined {
  if (typeof value === "string") {
    // Lines of files and containers come with their line break.
    const text = value.endsWith("\n") ? value.slice(0, value.endsWith("\r\n") ? -2 : -1) : value;
    return text === "" ? undefined : text;
  }
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "object" || value === null) return undefined;
  const inner = valueAt(value, ["message"]) ?? valueAt(value, ["msg"]);
  return typeof inner === "string" && inner !== "" ? inner : undefined;
}

function valueAt(value: object, path: readonly string[]): unknown {
  let found: unknown = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}

/** Moves the members of a record's own `data` to the others, as for own entries, if no name occurs twice. */
function unfolded(members: Record<string, unknown>): Record<string, unknown> {
  const { data } = members;
  if (typeof data !== "object" || data === null || Array.isArray(data) || !Object.hasOwn(members, "data")) {
    return members;
  }
  const own = Object.entries(data);
  if (own.some(([name]) => name !== "data" && Object.hasOwn(members, name))) return members;
  delete members.data;
  for (const [name, value] of own) define(members, name, value);
  return members;
}

/** A record that is a text. */
export function recordOf(message: string): DoorEntry {
  return { time: null, level: null, message, data: {} };
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

type TextMember = "service" | "host" | "traceId" | "spanId" | "session" | "category" | "type";

function setText(entry: DoorEntry, name: TextMember, value: unknown): void {
  if (typeof value === "string") entry[name] = value;
}

function parsedRecord(line: string): Record<string, unknown> | null {
  const value = parseText(line);
  // SAFETY: JSON that begins with a brace is an object.
  return value === undefined || value === NOT_JSON ? null : (value as Record<string, unknown>);
}

const readers = new WeakMap<Mapping, RecordReader>();
const usual = new RecordReader();

/** Reads a record by the names of a mapping, and by the usual ones. */
export function readRecord(record: Record<string, unknown>, mapping?: Mapping): DoorEntry {
  return readerOf(mapping).read(record);
}

/** Returns the reader of a mapping, of which there is one. */
export function readerOf(mapping?: Mapping): RecordReader {
  if (mapping === undefined) return usual;
  const known = readers.get(mapping) ?? new RecordReader(mapping);
  readers.set(mapping, known);
  return known;
}
