import { type Entry, LEVELS, OWN_MEMBERS, parseStoredLine } from "../../entry.ts";
import { TokenHasher } from "../filter/bloom.ts";
import { atId, atOwnValue, atPath, hashValue, TokenCollector, type TokenHash } from "../filter/tokens.ts";
import { type TypePair, TypePairs } from "../format/counts.ts";
import { HEAD_BYTES, type SourceLine } from "../format/lines.ts";
import { DataScanner } from "./data-scanner.ts";
import { JsonText } from "./json-text.ts";
import { LastValue, LineTokens } from "./line-tokens.ts";

const QUOTE = 34;
const BACKSLASH = 92;
const CLOSE_OBJECT = 125;
const FIRST_PRINTED = 0x20;
const LAST_ASCII = 0x7f;

const LEVEL = ascii(',"level":"');
/** Severity and remaining bytes of a level by its first character. No two levels begin with the same character. */
const LEVEL_BY_INITIAL: ({ severity: number; rest: Uint8Array } | null)[] = new Array(LAST_ASCII + 1).fill(null);
LEVELS.forEach((level, severity) => {
  LEVEL_BY_INITIAL[level.charCodeAt(0)] = { severity, rest: ascii(`${level}","category":"`) };
});
const TYPE = ascii('","type":"');
/** The opening quote of the message's text is left out. */
const MESSAGE = ascii('","message":');
const ID_NAMES = ["session", "traceId", "spanId"].map((name) => ascii(`,"${name}":`));
const OWN_NAMES = OWN_MEMBERS.map((name) => ascii(`,"${name}":`));
/** Tokens of entries that have an own member, whatever its value. */
const OWN_TOKENS = OWN_MEMBERS.map((name): TokenHash => {
  const { a, b } = hashValue(atPath(new TokenHasher(), [name]), undefined);
  return { a, b };
});
const DATA = ascii(',"data":');
const MULTIPLIER = 31;

/** Level, category and type as written in a line, up to the opening quote of the message. */
interface Head {
  bytes: Uint8Array;
  from: number;
  to: number;
  pair: TypePair;
}

/**
 * Reads a stored line from its bytes: members in the order in which ingest writes them, JSON as `JSON.stringify` writes
 * it. Costs a fifth of parsing the line. The caller must parse a line that the scanner does not accept; the parser then
 * finds out whether it is an entry or damaged.
 */
export class LineScanner {
  /** Tokens of the last scanned line. */
  readonly tokens = new LineTokens();
  severity = 0;
  pair: TypePair;
  readonly #pairs: TypePairs;
  readonly #text = new JsonText();
  readonly #data = new DataScanner(this.tokens, this.#text);
  readonly #hasher = new TokenHasher();
  readonly #message = new LastValue();
  readonly #ids = ID_NAMES.map(() => new LastValue());
  readonly #own = OWN_NAMES.map(() => new LastValue());
  /** The last text between timestamp and message, by severity. */
  readonly #heads: (Head | null)[] = LEVELS.map(() => null);
  readonly #names = { from: 0, middle: 0, type: 0, to: 0, hash: 0 };

  constructor(pairs: TypePairs) {
    this.#pairs = pairs;
    this.pair = pairs.of("", "");
  }

  /**
   * @param start of a line whose timestamp `ByteTimestampParser` has read
   * @returns whether the line was accepted; if not, `tokens` and the other members have no meaning
   */
  scan(bytes: Uint8Array, start: number, end: number): boolean {
    this.tokens.clear();
    const isAccepted = this.#members(bytes, this.#head(bytes, start + HEAD_BYTES, end), end) === end - 1;
    // Tokens of this line will not be added, so cached values must not count as added.
    if (!isAccepted) this.tokens.forget();
    return isAccepted;
  }

  /** Reads the members from the message on. @returns index of the closing brace; negative if the line must be parsed */
  #members(bytes: Uint8Array, message: number, end: number): number {
    if (message < 0) return -1;
    let at = this.#message.again(bytes, message, this.tokens.round);
    if (at < 0) {
      if (!this.#text.read(bytes, message + 1, end)) return -1;
      at = this.#text.next;
      this.tokens.addText(this.#text);
      this.#message.remember(bytes, message, at, this.tokens.round);
    }
    for (let member = 0; member < ID_NAMES.length; member++) {
      const name = ID_NAMES[member];
      if (name === undefined || !isAt(name, bytes, at)) continue;
      at = this.#id(bytes, at + name.length, end, member);
      if (at < 0) return -1;
    }
    for (let member = 0; member < OWN_NAMES.length; member++) {
      const name = OWN_NAMES[member];
      if (name === undefined || !isAt(name, bytes, at)) continue;
      at = this.#ownMember(bytes, at + name.length, end, member);
      if (at < 0) return -1;
    }
    if (isAt(DATA, bytes, at)) at = this.#data.scan(bytes, at + DATA.length, end);
    return bytes[at] === CLOSE_OBJECT ? at : -1;
  }

  #id(bytes: Uint8Array, at: number, end: number, member: number): number {
    const seen = this.#ids[member];
    const again = seen?.again(bytes, at, this.tokens.round) ?? -1;
    if (again >= 0) return again;
    const hasher = atId(this.#hasher, member);
    if (bytes[at] !== QUOTE || !this.#text.hashFolded(bytes, at + 1, end, hasher)) return -1;
    const { a, b } = hasher.finish();
    this.tokens.ids.pushPair(a, b);
    seen?.remember(bytes, at, this.#text.next, this.tokens.round);
    return this.#text.next;
  }

  /** Reads an own member, which has the tokens of a member of `data`. */
  #ownMember(bytes: Uint8Array, at: number, end: number, member: number): number {
    const seen = this.#own[member];
    const again = seen?.again(bytes, at, this.tokens.round) ?? -1;
    if (again >= 0) return again;
    const hasher = atOwnValue(this.#hasher, member);
    if (bytes[at] !== QUOTE || !this.#text.hashFolded(bytes, at + 1, end, hasher)) return -1;
    const any = OWN_TOKENS[member];
    if (any !== undefined) this.tokens.texts.pushPair(any.a, any.b);
    const { a, b } = hasher.finish();
    this.tokens.texts.pushPair(a, b);
    this.tokens.addText(this.#text);
    seen?.remember(bytes, at, this.#text.next, this.tokens.round);
    return this.#text.next;
  }

  /** Reads level, category and type. @returns index of the message; negative if the line must be parsed */
  #head(bytes: Uint8Array, from: number, end: number): number {
    const level = LEVEL_BY_INITIAL[bytes[from + LEVEL.length] ?? 0];
    if (!level) return -1;
    const head = this.#heads[level.severity];
    if (head && isSame(head.bytes, head.from, head.to, bytes, from)) {
      this.severity = level.severity;
      this.pair = head.pair;
      const message = from + head.to - head.from;
      return bytes[message] === QUOTE ? message : -1;
    }
    const message = this.#newHead(bytes, from, end, level);
    if (message >= 0) this.#heads[level.severity] = { bytes, from, to: message, pair: this.pair };
    return message;
  }

  #newHead(bytes: Uint8Array, from: number, end: number, level: { severity: number; rest: Uint8Array }): number {
    if (!isAt(LEVEL, bytes, from) || !isAt(level.rest, bytes, from + LEVEL.length)) return -1;
    this.severity = level.severity;
    const names = this.#names;
    names.from = from + LEVEL.length + level.rest.length;
    names.hash = 0;
    names.middle = this.#name(bytes, names.from, end);
    names.type = names.middle + TYPE.length;
    if (names.middle < 0 || !isAt(TYPE, bytes, names.middle)) return -1;
    names.to = this.#name(bytes, names.type, end);
    if (names.to < 0 || !isAt(MESSAGE, bytes, names.to) || bytes[names.to + MESSAGE.length] !== QUOTE) return -1;
    this.pair = this.#pairs.at(bytes, names);
    return names.to + MESSAGE.length;
  }

  /**
   * Adds a name of plain ASCII to the hash of the names. @returns index of its end; negative if the line must be parsed
   */
  #name(bytes: Uint8Array, from: number, end: number): number {
    let { hash } = this.#names;
    for (let at = from; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) {
        this.#names.hash = hash;
        return at;
      }
      if (byte < FIRST_PRINTED || byte > LAST_ASCII || byte === BACKSLASH) return -1;
      hash = (Math.imul(hash, MULTIPLIER) + byte) | 0;
    }
    return -1;
  }
}

function isAt(wanted: Uint8Array, bytes: Uint8Array, from: number): boolean {
  for (let at = 0; at < wanted.length; at++) if (bytes[from + at] !== wanted[at]) return false;
  return true;
}

function isSame(seen: Uint8Array, seenFrom: number, seenTo: number, bytes: Uint8Array, from: number): boolean {
  for (let a = seenFrom, b = from; a < seenTo; a++, b++) if (seen[a] !== bytes[b]) return false;
  return true;
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/**
 * Maximum number of lines parsed without a scan after a line that the scanner did not accept: a segment's lines are
 * alike.
 */
const MAX_PASSED = 31;

/**
 * Reads a segment's entries in order and collects their tokens. Scans nearly all lines in their bytes. Parses the
 * others, which costs five times as much and has the same result.
 */
export class SegmentEntryReader {
  readonly tokens: TokenCollector;
  /** Severity of the last entry read. */
  severity = 0;
  pair: TypePair;
  readonly #pairs = new TypePairs();
  readonly #scanner = new LineScanner(this.#pairs);
  /** Number of lines that will be parsed without a scan, and the number that was last chosen. */
  #left = 0;
  #passed = 0;

  constructor(tokens = new TokenCollector()) {
    this.tokens = tokens;
    this.pair = this.#scanner.pair;
  }

  /** @throws RangeError if a line is not an entry */
  read({ batch: { body }, start, end, isTimed }: SourceLine): void {
    const scanner = this.#scanner;
    if (isTimed && this.#left === 0 && scanner.scan(body, start, end)) {
      this.#passed = 0;
      this.severity = scanner.severity;
      this.pair = scanner.pair;
      this.tokens.addLine(scanner.tokens, body);
      return;
    }
    if (this.#left > 0) this.#left--;
    else if (isTimed) this.#left = this.#passed = Math.min(MAX_PASSED, this.#passed * 2 + 1);
    const entry = parsed(body, start, end);
    this.severity = LEVELS.indexOf(entry.level);
    this.pair = this.#pairs.of(entry.category, entry.type);
    this.tokens.add(entry);
  }
}

/** Parses an entry and keeps no reference: a range of small members takes twenty times its bytes when parsed. */
function parsed(body: Uint8Array, start: number, end: number): Entry {
  const entry = parseStoredLine(Buffer.from(body.buffer, body.byteOffset + start, end - start).toString("utf8"));
  if (entry === null) throw new RangeError("A line is not an entry.");
  return entry;
}
