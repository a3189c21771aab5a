import { categoryBit, INGEST_LIMITS, LEVELS, OWN_MEMBERS } from "../entry.ts";
import { ID_MEMBERS, IdCollector } from "../id-filter.ts";
import { endOfObject, endOfString, startsWith } from "./canonical-json.ts";
import { EntryRejected } from "./rejection.ts";
import { EntryValidator, MAX_ENTRY_AGE_MS, type ValidEntry } from "./validate.ts";

const encoder = new TextEncoder();
const encode = (text: string): Uint8Array => encoder.encode(text);
const TIMESTAMP = encode('{"timestamp":"');
const LEVEL = encode('","level":"');
const CATEGORY = encode('","category":"');
const TYPE = encode('","type":"');
const MESSAGE = encode('","message":"');
/** The members that are in a batch's id filter, then the others. */
const IDS = [...ID_MEMBERS, "spanId"].map((name) => encode(`","${name}":"`));
/** Members of bounded length, after the closing quote of the text before. */
const OWN = OWN_MEMBERS.map((name) => encode(`,"${name}":"`));
const DATA = encode(',"data":{');

const QUOTE = 0x22;
const DOT = 0x2e;
const ZERO = 0x30;
const CLOSE_BRACE = 0x7d;
const CAPITAL_Z = 0x5a;
/** Length of `2026-11-20T14:04:05.678Z`, and of the part before the seconds. */
const TIMESTAMP_LENGTH = 24;
const MINUTE_LENGTH = 17;

/** A level's bytes by its first byte. No two levels begin with the same letter. */
const LEVEL_BY_INITIAL = new Map(
  LEVELS.map((level, severity) => [level.charCodeAt(0), { severity, bytes: encode(level) }]),
);

/** Category and type of an entry. */
interface CategoryAndType {
  /** Bytes from the first byte of the category to the closing quote of the type. */
  bytes: Uint8Array;
  category: string;
  type: string;
  bit: number;
}

const NOWHERE: CategoryAndType = { bytes: new Uint8Array(), category: "", type: "", bit: 0 };
/** Maximum number of cached pairs. Requests that arrive close together use few. */
const MAX_CACHED_NAMES = 16;

// Cached across requests: whether a pair is valid depends on its text only.
const cachedNames: CategoryAndType[] = [];
let minute: Uint8Array = NOWHERE.bytes;
let minuteMs = 0;

/** Reads the entries of a body that are written as they are stored; see `canonicalBatch`. */
export class CanonicalEntryReader {
  /** Timestamp of the last entry read, epoch milliseconds. */
  ms = 0;
  severity = 0;
  names: CategoryAndType = NOWHERE;
  /** The ids of all entries read. */
  readonly ids = new IdCollector();

  readonly #bytes: Uint8Array;
  readonly #now: number;
  readonly #oldest: number;
  readonly #newest: number;

  /**
   * @param bytes valid UTF-8
   * @param now as for an `EntryValidator`
   */
  constructor(bytes: Uint8Array, now: number) {
    this.#bytes = bytes;
    this.#now = now;
    this.#oldest = now - MAX_ENTRY_AGE_MS;
    this.#newest = now + INGEST_LIMITS.futureMs;
  }

  /** @returns index after the entry that begins at `at`; -1 if the entry is not canonical or may have to be rejected */
  read(at: number): number {
    const bytes = this.#bytes;
    if (!startsWith(bytes, at, TIMESTAMP)) return -1;
    let i = at + TIMESTAMP.length;
    if (!this.#readTime(i)) return -1;
    i += TIMESTAMP_LENGTH;
    if (!startsWith(bytes, i, LEVEL)) return -1;
    i += LEVEL.length;
    const level = LEVEL_BY_INITIAL.get(bytes[i] ?? 0);
    if (level === undefined || !startsWith(bytes, i, level.bytes)) return -1;
    this.severity = level.severity;
    i += level.bytes.length;
    if (!startsWith(bytes, i, CATEGORY)) return -1;
    i = this.#readNames(i + CATEGORY.length);
    if (i < 0 || !startsWith(bytes, i, MESSAGE)) return -1;
    i += MESSAGE.length;
    if (bytes[i] === QUOTE) return -1;
    i = endOfString(bytes, i);
    for (let member = 0; member < IDS.length; member++) {
      const name = IDS[member];
      if (i < 0 || name === undefined || !startsWith(bytes, i, name)) continue;
      const from = i + name.length;
      i = endOfString(bytes, from);
      if (i >= 0 && member < ID_MEMBERS.length) this.ids.addBytes(member, bytes, from, i);
    }
    if (i < 0) return -1;
    // Continues after the closing quote of the last text.
    i++;
    for (let member = 0; member < OWN.length; member++) {
      const name = OWN[member];
      if (name === undefined || !startsWith(bytes, i, name)) continue;
      i = this.#ownEnd(i + name.length);
      if (i < 0) return -1;
    }
    if (startsWith(bytes, i, DATA)) i = endOfObject(bytes, i + DATA.length - 1, 1);
    return i >= 0 && bytes[i] === CLOSE_BRACE ? i + 1 : -1;
  }

  /** @returns index after the closing quote; -1 if only the full parser can tell whether the text is an own member */
  #ownEnd(from: number): number {
    const bytes = this.#bytes;
    const end = endOfString(bytes, from);
    // A character has one byte or more.
    return end > from && end - from <= INGEST_LIMITS.ownLength ? end + 1 : -1;
  }

  #readTime(at: number): boolean {
    const bytes = this.#bytes;
    if (bytes[at + MINUTE_LENGTH + 2] !== DOT || bytes[at + TIMESTAMP_LENGTH - 1] !== CAPITAL_Z) return false;
    const seconds = digits(bytes, at + MINUTE_LENGTH, 2);
    const thousandths = digits(bytes, at + MINUTE_LENGTH + 3, 3);
    if (seconds < 0 || seconds > 59 || thousandths < 0) return false;
    if (minute.length === 0 || !startsWith(bytes, at, minute)) {
      const own = new Uint8Array(bytes.subarray(at, at + MINUTE_LENGTH));
      const timestamp = `${latin1(own)}00.000Z`;
      const valid = this.#checked({ timestamp });
      // Other ways to write a time can have the same length.
      if (valid?.entry.timestamp !== timestamp) return false;
      minute = own;
      minuteMs = valid.ms;
    }
    this.ms = minuteMs + seconds * 1000 + thousandths;
    return this.ms >= this.#oldest && this.ms <= this.#newest;
  }

  /** @returns index of the closing quote of the type */
  #readNames(at: number): number {
    const bytes = this.#bytes;
    for (const cached of cachedNames) {
      const end = at + cached.bytes.length;
      if (bytes[end] === QUOTE && startsWith(bytes, at, cached.bytes)) {
        this.names = cached;
        return end;
      }
    }
    const type = endOfString(bytes, at) + TYPE.length;
    if (type < TYPE.length || !startsWith(bytes, type - TYPE.length, TYPE)) return -1;
    const end = endOfString(bytes, type);
    if (end < 0) return -1;
    const pair = {
      category: latin1(bytes.subarray(at, type - TYPE.length)),
      type: latin1(bytes.subarray(type, end)),
    };
    // Names outside ASCII, or with escapes, need the full parser.
    if (!/^[ -[\]-~]+$/.test(pair.category + pair.type) || this.#checked(pair) === null) return -1;
    const added = { ...pair, bytes: new Uint8Array(bytes.subarray(at, end)), bit: categoryBit(pair.category) };
    if (cachedNames.length === MAX_CACHED_NAMES) cachedNames.length = 0;
    cachedNames.push(added);
    this.names = added;
    return end;
  }

  #checked(members: object): ValidEntry | null {
    try {
      return new EntryValidator(this.#now).check({ message: "-", ...members });
    } catch (error) {
      if (error instanceof EntryRejected) return null;
      throw error;
    }
  }
}

/** Parses a number with the given count of digits. @returns -1 if a byte is not a digit */
function digits(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = (bytes[i] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
