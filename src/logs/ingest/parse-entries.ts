import { isUtf8 } from "node:buffer";
import type { Steps, TurnMeter } from "../../platform/turns.ts";
import { INGEST_LIMITS } from "../entry.ts";
import { type BodyFailure, NO_ENTRY, notUtf8, tooManyEntries } from "./body-failure.ts";
import { BatchBuilder, type BuildOptions } from "./build-batch.ts";
import { countValues } from "./check-json.ts";
import { type EntryOffsets, isBlank, markLength, splitDocument, splitLines, trimmedLength } from "./entry-offsets.ts";
import { parseExactly } from "./exact-json.ts";
import { OwnLines } from "./own-lines.ts";
import { faultOfLine, NOT_JSON } from "./rejection.ts";

/** The media types of a body. `parseEntries` finds out which JSON form a body has. */
export type IngestMediaType = "application/json" | "application/x-ndjson";

/**
 * Bytes of JSON that cannot hold more values than an entry may have: a value and its separator take at least two bytes.
 */
const FEW_VALUES_BYTES = 2 * INGEST_LIMITS.entryValues;
/** Bytes of entries that are parsed at once. */
const GROUP_BYTES = 32 * 1024;

const CARRIAGE_RETURN = 0x0d;

/** Costs in nanoseconds for the worst input, on a fast machine. */
const COST = {
  /** Reading and writing a line that is not parsed. */
  plainByte: 16,
  /** Finding entries or counting values. */
  scannedByte: 2,
  /** Finding a line. */
  line: 60,
  /** Parsing. A byte of `{},{},{}` costs most. */
  parsedByte: 16,
  /** Validating a value of `data` and writing it. */
  value: 150,
  /** Rejecting an entry: an exception, or two. */
  rejection: 8_000,
  /** Parsing a value again with `parseExactly`. */
  exactByte: 200,
} as const;

/** The entries of a body in a builder, or the reason why there are none. */
export type ParseResult = { ok: true; builder: BatchBuilder } | ({ ok: false } & BodyFailure);

/**
 * Splits a JSON body into its entries and passes each to a builder. A body is one entry, an array or `{"logs": [...]}`.
 * Entries are located in the bytes and parsed a few at a time, so the parsed values in memory are at most one large
 * entry or a few small ones.
 */
export function* parseEntries(bytes: Uint8Array, options: BuildOptions, meter: TurnMeter): Steps<ParseResult> {
  if (!isUtf8(bytes)) return invalid(notUtf8(bytes));
  const newReader = () => new EntryParser(bytes, new BatchBuilder(options), meter);
  return (yield* parsePlainList(bytes, newReader())) ?? (yield* parseDocument(bytes, newReader(), meter));
}

/** The entries of some lines in a builder, and the index of the first line that was not read. */
export interface ParsedLines {
  builder: BatchBuilder;
  next: number;
}

/**
 * Reads lines, one entry each, as many as one batch may have.
 * @param bytes valid UTF-8
 */
export function* parseLines(bytes: Uint8Array, options: BuildOptions, meter: TurnMeter): Steps<ParsedLines> {
  const { offsets, lines, next } = splitLines(bytes);
  meter.spend(lines * COST.line);
  const reader = new EntryParser(bytes, new BatchBuilder(options), meter);
  yield* reader.readLines(offsets, options);
  return { builder: reader.builder, next };
}

/** The beginnings and ends of a list of entries that is written without white space. */
const LISTS = [
  { open: Buffer.from("[{"), close: Buffer.from("}]") },
  { open: Buffer.from('{"logs":[{'), close: Buffer.from("}]}") },
];
/** Number of bytes in which the name of an entry's first member must end. */
const NAME_BYTES = 64;

/**
 * Reads a list as most clients write it, without locating its entries byte by byte. Cuts the list where an entry seems
 * to begin like the first one, and parses each piece as a list. If all pieces are JSON, the whole list is JSON and has
 * the same entries.
 *
 * Returns `null` if a piece is not JSON, cannot be cut or is too large. `parseDocument` reads the body then.
 */
function* parsePlainList(bytes: Uint8Array, reader: EntryParser): Steps<ParseResult | null> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const list = LISTS.find(({ open }) => open.equals(buffer.subarray(0, open.length)));
  if (list === undefined || !list.close.equals(buffer.subarray(-list.close.length))) return null;
  const start = list.open.length - 1;
  const end = bytes.length - list.close.length + 1;
  const name = buffer.subarray(start, buffer.indexOf(":", start) + 1);
  if (name.length === 0 || name.length > NAME_BYTES) return null;
  const border = Buffer.concat([Buffer.from("},"), name]);
  for (let from = start; from < end; ) {
    let to = end;
    if (end - from > GROUP_BYTES) {
      const cut = buffer.subarray(from, from + GROUP_BYTES).lastIndexOf(border);
      if (cut < 0) return null;
      to = from + cut + 1;
    }
    if (!reader.readList(from, to) || reader.builder.entries > INGEST_LIMITS.entries) return null;
    if (reader.isDue()) yield;
    // Continues after the comma.
    from = to + 1;
  }
  return { ok: true, builder: reader.builder };
}

function* parseDocument(bytes: Uint8Array, reader: EntryParser, meter: TurnMeter): Steps<ParseResult> {
  const split = splitDocument(bytes, INGEST_LIMITS.entries);
  meter.spend(bytes.length * COST.scannedByte);
  if (split.found !== "entries") {
    if (meter.isDue) yield;
    if (split.found === "broken" || countValues(bytes, markLength(bytes), bytes.length) < 0) return notJson(bytes);
    meter.spend(bytes.length * COST.scannedByte);
    if (split.found === "too_many") return tooMany();
    if (split.found === "no-entries") return invalid(split.message);
  }
  if (split.offsets.starts.length === 0) return invalid(NO_ENTRY);
  return (yield* reader.readElements(split.offsets)) ? { ok: true, builder: reader.builder } : notJson(bytes);
}

/** Decodes and parses entries whose offsets are known, and passes them to the builder. */
class EntryParser {
  readonly builder: BatchBuilder;
  readonly #bytes: Uint8Array;
  readonly #meter: TurnMeter;
  #values = 0;
  #rejected = 0;

  constructor(bytes: Uint8Array, builder: BatchBuilder, meter: TurnMeter) {
    this.#bytes = bytes;
    this.builder = builder;
    this.#meter = meter;
  }

  /** @returns `false` if an element is not JSON */
  *readElements({ starts, ends }: EntryOffsets): Steps<boolean> {
    for (let from = 0; from < starts.length; ) {
      const to = groupEnd(starts, ends, from);
      const start = starts[from] ?? 0;
      const end = ends[to - 1] ?? 0;
      const values = end - start > FEW_VALUES_BYTES ? this.#count(start, end) : 0;
      if (values < 0) return false;
      if (!this.#isTooLarge(end - start, values) && !this.readList(start, end)) return false;
      from = to;
      if (this.isDue()) yield;
    }
    return true;
  }

  /**
   * Reads consecutive elements including their separators. None of them is large.
   * @returns `false` if the text is not JSON
   */
  readList(start: number, end: number): boolean {
    const text = `[${this.#text(start, end)}]`;
    const list = parsed(text);
    if (!Array.isArray(list)) return false;
    this.#add(list, start, end, () => parseExactly(text));
    return true;
  }

  *readLines({ starts, ends }: EntryOffsets, { now, oldest }: BuildOptions): Steps<void> {
    const plain = new OwnLines();
    for (let from = 0, wasPlain = false; from < starts.length; ) {
      const isPlain = this.#readPlainLine(plain, starts[from] ?? 0, ends[from] ?? 0, now, oldest);
      if (isPlain) {
        from++;
        wasPlain = true;
        if (this.isDue()) yield;
        continue;
      }
      // One line among plain ones is parsed alone.
      const to = wasPlain ? from + 1 : groupEnd(starts, ends, from);
      wasPlain = false;
      const start = starts[from] ?? 0;
      const end = ends[to - 1] ?? 0;
      if (end - start <= FEW_VALUES_BYTES || this.#isReadableLine(start, end)) this.#readGroupOfLines(start, end);
      from = to;
      if (this.isDue()) yield;
    }
  }

  /** Reads a line that need not be parsed. @returns `false` for any other line */
  #readPlainLine(plain: OwnLines, start: number, lineEnd: number, now: number, oldest: number | null): boolean {
    const end = this.#bytes[lineEnd - 1] === CARRIAGE_RETURN ? lineEnd - 1 : lineEnd;
    this.#meter.spend((end - start) * COST.plainByte);
    if (!plain.read(this.#bytes, start, end, now, oldest)) return false;
    this.builder.addBytes(plain, plain.size, (target, at) => plain.write(target, at));
    return true;
  }

  #readGroupOfLines(start: number, end: number): void {
    const lines = this.#text(start, end).split("\n");
    const values: unknown[] = [];
    for (const line of lines) {
      const value = parsed(line);
      if (value !== NOT_JSON) values.push(value);
      // A line of white space is not an entry.
      else if (line.trim() !== "") values.push(faultOfLine(line));
    }
    this.#add(values, start, end, () => lines.filter((line) => line.trim() !== "").map(exactly));
  }

  /** Whether a large line can be parsed. Rejects the entry if not. */
  #isReadableLine(start: number, end: number): boolean {
    const size = trimmedLength(this.#bytes, start, end);
    const values = size > INGEST_LIMITS.entryBytes ? 0 : this.#count(start, end);
    if (values >= 0) return !this.#isTooLarge(size, values);
    this.builder.refuse("INVALID_ENTRY", faultOfLine(this.#text(start, end)).message);
    return false;
  }

  #isTooLarge(size: number, values: number): boolean {
    const { entryBytes, entryValues } = INGEST_LIMITS;
    if (size <= entryBytes && values <= entryValues) return false;
    const bound = size > entryBytes ? `is larger than ${entryBytes} bytes` : `has more than ${entryValues} values`;
    this.builder.refuse("ENTRY_TOO_LARGE", `The entry ${bound}.`);
    return true;
  }

  #count(start: number, end: number): number {
    this.#meter.spend((end - start) * COST.scannedByte);
    return countValues(this.#bytes, start, end);
  }

  /** @param exact returns the same values parsed by `parseExactly` */
  #add(values: readonly unknown[], start: number, end: number, exact: () => unknown): void {
    this.builder.add(values, () => {
      this.#meter.spend((end - start) * COST.exactByte);
      const reparsed = exact();
      return Array.isArray(reparsed) ? reparsed : [];
    });
    const { rejectedCount } = this.builder;
    this.#meter.spend((end - start) * COST.parsedByte + (this.builder.values - this.#values) * COST.value);
    this.#meter.spend((rejectedCount - this.#rejected) * COST.rejection);
    this.#values = this.builder.values;
    this.#rejected = rejectedCount;
  }

  /** Whether a pause is due. */
  isDue(): boolean {
    this.#meter.held = this.builder.held;
    return this.#meter.isDue;
  }

  #text(start: number, end: number): string {
    return utf8.decode(this.#bytes.subarray(start, end));
  }
}

/** A byte order mark inside the body stays, because JSON does not allow it there. */
const utf8 = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/** @returns index after the last entry that is parsed together with the one at `from` */
function groupEnd(starts: readonly number[], ends: readonly number[], from: number): number {
  const limit = (starts[from] ?? 0) + GROUP_BYTES;
  let to = from + 1;
  while (to < starts.length && (ends[to] ?? 0) <= limit) to++;
  return to;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}

function exactly(line: string): unknown {
  try {
    return parseExactly(line);
  } catch {
    return faultOfLine(line);
  }
}

function invalid(message: string): ParseResult {
  return { ok: false, reason: "invalid", message };
}

function notJson(bytes: Uint8Array): ParseResult {
  return invalid(isBlank(bytes, 0, bytes.length) ? "The body is empty." : "The body is not valid JSON.");
}

function tooMany(): ParseResult {
  return { ok: false, ...tooManyEntries(INGEST_LIMITS.entries) };
}
