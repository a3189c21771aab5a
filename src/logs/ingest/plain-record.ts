import { INGEST_LIMITS } from "../entry.ts";
import { endOfLongInteger, endOfValue } from "./canonical-json.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const SPACE = 0x20;
const ZERO = 0x30;
const NINE = 0x39;
const SMALL_N = 0x6e;
const SMALL_R = 0x72;

/** Parts of an entry, by their number in a `PlainRecord`. */
export const PART = {
  message: 0,
  time: 1,
  level: 2,
  service: 3,
  host: 4,
  traceId: 5,
  spanId: 6,
  session: 7,
  category: 8,
  type: 9,
  /** The object that the other members are added to. */
  data: 10,
  /** A member that only the parser can read. */
  parsed: 11,
  /** A member without a meaning, unless it is an object with parts as members. */
  none: 12,
} as const;
const PARTS = 11;

/** What a member of a name is. */
export interface NamedPart {
  part: number;
  /** How much the name is preferred to others of the same part: 0 the most. */
  rank: number;
  /** How the value is read, for code that reads it. */
  how: unknown;
  /** Whether an object of that name has parts as members, which only the parser finds. */
  isNested: boolean;
}

/** The names of members that are parts of an entry. */
export class PartNames {
  readonly #byHash = new Map<number, { bytes: Uint8Array; named: NamedPart }>();

  constructor(names: Iterable<readonly [string, NamedPart]>) {
    for (const [name, named] of names) {
      const bytes = encoder.encode(name);
      const hash = hashOfName(bytes);
      // Of two names with one hash, records with either are parsed.
      const known = this.#byHash.get(hash);
      const part = known ? { ...named, part: PART.parsed, isNested: true } : named;
      this.#byHash.set(hash, { bytes: known ? NO_BYTES : bytes, named: part });
    }
  }

  /** Returns what a name in JSON is; `null` for a member without a meaning. */
  find(hash: number, bytes: Uint8Array, from: number, to: number): NamedPart | null {
    const found = this.#byHash.get(hash);
    if (found === undefined) return null;
    const name = found.bytes;
    if (name.length !== to - from) return name.length === 0 ? found.named : null;
    for (let i = 0; i < name.length; i++) if (name[i] !== bytes[from + i]) return null;
    return found.named;
  }
}

const encoder = new TextEncoder();
const NO_BYTES = new Uint8Array();

/** Converts the values of parts that are not texts. */
export interface PartReader {
  /** @returns whether the bytes (a JSON string with quotes, or a number) are a time */
  readTime(bytes: Uint8Array, from: number, to: number, named: NamedPart): boolean;
  /** @returns whether the bytes are a level */
  readLevel(bytes: Uint8Array, from: number, to: number, named: NamedPart): boolean;
}

/** Most members of a record that is read without a parser. Each name is compared with those before it. */
const MAX_MEMBERS = 64;

/**
 * Finds the parts of an entry in the bytes of a JSON object, of which the values are canonical. Such values can be stored
 * as they are, without parsing.
 */
export class PlainRecord {
  /** Where the values of parts are: for texts without quotes. -1 if a part does not occur. */
  readonly from = new Int32Array(PARTS);
  readonly to = new Int32Array(PARTS);
  /** Ranges of the other members, `"name":value`, with the commas between them: start and end of each. */
  readonly ranges = new Int32Array(2 * MAX_MEMBERS);
  /** Used length of `ranges`. */
  rangesLength = 0;
  readonly #ranks = new Int32Array(PARTS);
  readonly #starts = new Int32Array(PARTS);
  readonly #ends = new Int32Array(PARTS);
  readonly #hashes = new Int32Array(MAX_MEMBERS);
  readonly #names: PartNames;
  readonly #reader: PartReader;
  readonly #isStrict: boolean;

  /** @param isStrict whether a member of a part's name must be that part, as sent */
  constructor(names: PartNames, reader: PartReader, isStrict: boolean) {
    this.#isStrict = isStrict;
    this.#names = names;
    this.#reader = reader;
  }

  /**
   * @param bytes valid UTF-8
   * @returns `false` if the record must be parsed. The parts are undefined then.
   */
  read(bytes: Uint8Array, from: number, to: number): boolean {
    this.from.fill(-1);
    this.rangesLength = 0;
    if (to - from > 2 * INGEST_LIMITS.entryValues || bytes[from] !== OPEN_BRACE) return false;
    let count = 0;
    for (let at = from + 1; ; ) {
      if (bytes[at] === SPACE) at++;
      const start = at;
      // `JSON.parse` moves members whose names are whole numbers.
      const initial = bytes[start + 1] ?? 0;
      if (bytes[start] !== QUOTE || (initial >= ZERO && initial <= NINE) || count === MAX_MEMBERS) return false;
      let hash = 0;
      let end = start + 1;
      for (let byte = initial; byte !== QUOTE; byte = bytes[++end] ?? 0) {
        if (byte < SPACE || byte === BACKSLASH) return false;
        hash = Math.imul(hash ^ byte, HASH_FACTOR);
      }
      for (let other = 0; other < count; other++) if (this.#hashes[other] === hash) return false;
      this.#hashes[count++] = hash;
      at = end + 1;
      if (bytes[at] !== COLON) return false;
      let isTight = bytes[++at] !== SPACE;
      if (!isTight) at++;
      const named = this.#names.find(hash, bytes, start + 1, end);
      let valueEnd = endOfValue(bytes, at, 1, 0);
      if (valueEnd < 0 && named?.part === PART.time && !this.#isStrict) {
        // Nanoseconds can be read as a time, but not stored as they are.
        valueEnd = endOfLongInteger(bytes, at);
        isTight = false;
      }
      if (valueEnd < 0 || valueEnd > to) return false;
      if (named === null) {
        if (!isTight) return false;
        this.#addRange(start, valueEnd);
      } else if (!this.#take(bytes, named, start, at, valueEnd, isTight)) return false;
      at = valueEnd;
      if (bytes[at] === SPACE) return false;
      if (bytes[at] === CLOSE_BRACE) return at + 1 === to;
      if (bytes[at] !== COMMA) return false;
      at++;
    }
  }

  /** @returns `false` if the record must be parsed */
  #take(bytes: Uint8Array, named: NamedPart, start: number, at: number, end: number, isTight: boolean): boolean {
    const { part, rank } = named;
    const first = bytes[at];
    if (part === PART.parsed || (named.isNested && first === OPEN_BRACE)) return false;
    if (part === PART.none) {
      if (isTight) this.#addRange(start, end);
      return isTight;
    }
    const known = (this.from[part] ?? -1) >= 0;
    const isTaken = !(known && rank > (this.#ranks[part] ?? 0)) && this.#isPart(bytes, named, at, end);
    if (isTaken === null || (this.#isStrict && !isTaken)) return false;
    if (!isTaken) {
      if (!isTight) return false;
      this.#addRange(start, end);
      return true;
    }
    const displaced = known ? (this.#starts[part] ?? -1) : 0;
    if (displaced < 0) return false;
    if (known) this.#addRange(displaced, this.#ends[part] ?? 0);
    this.#ranks[part] = rank;
    this.#starts[part] = isTight ? start : -1;
    this.#ends[part] = end;
    const isText = first === QUOTE;
    this.from[part] = isText ? at + 1 : at;
    this.to[part] = isText ? end - 1 : end;
    if (part !== PART.message) return true;
    this.to[part] = endOfText(bytes, at + 1, end - 1);
    return !this.#isStrict || this.to[part] === end - 1;
  }

  /** Whether a value is a part of the entry; `null` if only the parser can read it. */
  #isPart(bytes: Uint8Array, named: NamedPart, at: number, end: number): boolean | null {
    const first = bytes[at];
    const isText = first === QUOTE;
    switch (named.part) {
      case PART.message:
        if (!isText) return null;
        return endOfText(bytes, at + 1, end - 1) > at + 1;
      case PART.time:
        return (isText || isDigit(first)) && this.#reader.readTime(bytes, at, end, named);
      case PART.level:
        return (isText || isDigit(first)) && this.#reader.readLevel(bytes, at, end, named);
      case PART.data:
        return first === OPEN_BRACE;
      case PART.traceId:
      case PART.spanId:
        return isText && hasOther(bytes, at + 1, end - 1, ZERO);
      case PART.service:
      case PART.host:
        if (!isText || end - at === 2) return false;
        return end - at - 2 > INGEST_LIMITS.ownLength ? null : true;
      default:
        return isText && end - at > 2;
    }
  }

  #addRange(from: number, to: number): void {
    const { ranges, rangesLength } = this;
    if (rangesLength > 0 && ranges[rangesLength - 1] === from - 1) {
      ranges[rangesLength - 1] = to;
      return;
    }
    ranges[rangesLength] = from;
    ranges[rangesLength + 1] = to;
    this.rangesLength += 2;
  }
}

const HASH_FACTOR = 0x9e3779b1;

function hashOfName(name: Uint8Array): number {
  let hash = 0;
  for (const byte of name) hash = Math.imul(hash ^ byte, HASH_FACTOR);
  return hash;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

function hasOther(bytes: Uint8Array, from: number, to: number, byte: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== byte) return true;
  return false;
}

/** Returns the end of a text without the line break that lines of files and containers end with. */
function endOfText(bytes: Uint8Array, from: number, to: number): number {
  if (!isEscape(bytes, from, to, SMALL_N)) return to;
  return isEscape(bytes, from, to - 2, SMALL_R) ? to - 4 : to - 2;
}

function isEscape(bytes: Uint8Array, from: number, to: number, kind: number): boolean {
  if (to - from < 2 || bytes[to - 1] !== kind) return false;
  let at = to - 2;
  while (at >= from && bytes[at] === BACKSLASH) at--;
  return (to - 2 - at) % 2 === 1;
}
