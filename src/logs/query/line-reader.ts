import { type Entry, LEVELS, parseStoredLine } from "../entry.ts";
import { beginPathWork, takePathWork } from "../search/data-values.ts";
import type { EntryPlace } from "../search/entry-test.ts";
import type { RestFilter } from "../search/rest-filter.ts";
import { LINE_TEXTS } from "../search/wanted-members.ts";
import { WORK, type WorkMeter } from "./budget.ts";
import { toByteString } from "./case-folding.ts";
import { isOwnMember } from "./data-path.ts";
import { DataTests, type PathNode, VALUE } from "./data-tests.ts";
import { type ContentFilter, type LogFilter, matchesContent, type NoMembers } from "./filter.ts";
import { JsonStrings, numberEnd, ObjectWork } from "./json-bytes.ts";
import { isTime, TIMESTAMP, TIMESTAMP_LENGTH } from "./lines.ts";
import { MemberSlices } from "./member-slices.ts";
import { TextSearch } from "./text-search.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const FIRST_LETTER = 0x41;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Stored `data` is at most 32 deep. `JSON.parse` reads a deeper line. */
const MAX_DEPTH = 64;

/** Work units of parsing a line and each of its bytes, and of putting some of its members together. */
const PARSED_LINE_WORK = 1000;
const PARSED_BYTE_WORK = 6;
const PART_WORK = 400;

/** By severity: the text between the timestamp and the category. */
const LEVEL_PARTS = LEVELS.map((level) => `","level":"${level}","category":"`);
const TYPE = ',"type":"';
const MESSAGE = ',"message":"';
/** Members that a line may have before `data`. A search and paths in `data` find own members. */
const MEMBERS = LINE_TEXTS.slice(3).map((name) => ({ head: `,"${name}":"`, isOwn: isOwnMember(name) }));
const DATA = ',"data":';
/** Index of the category in `LINE_TEXTS`. */
const CATEGORY = 0;
const TRUE = { bytes: Buffer.from("true"), value: VALUE.true };
const FALSE = { bytes: Buffer.from("false"), value: VALUE.false };
const NULL = { bytes: Buffer.from("null"), value: VALUE.null };

/** Result of a line: an entry that passes, one that does not, or no entry. */
export type Verdict = "passes" | "fails" | "damaged";

/** Like `Verdict`, or `decide` must be called. */
export type FirstVerdict = Verdict | "open";

/**
 * Tests a stored line in its bytes, once and from left to right, without creating an object. The cost is proportional
 * to the line's length, whatever it contains. `JSON.parse` takes up to a hundred times as long for a byte of hostile
 * objects as for one of an ordinary line, and cannot be interrupted.
 *
 * Reads the lines that ingest writes: members in the order of `ENTRY_MEMBERS`, no white space. Any other line, which
 * only a damaged disk can return, is parsed with `JSON.parse` and gets the same verdict.
 */
export class LineReader {
  /** The filter without its rest. */
  readonly #others: LogFilter;
  /** Wanted texts by index in `MEMBERS`. */
  readonly #wanted: readonly (string | null)[];
  readonly #tests: DataTests;
  readonly #search: TextSearch | null;
  readonly #rest: RestFilter | null;
  readonly #strings = new JsonStrings();
  readonly #objects = new ObjectWork();
  readonly #meter: WorkMeter;
  readonly #byteWork: number;
  #raw: Buffer = Buffer.alloc(0);
  #text = "";
  #end = 0;
  #isFound = false;
  #entry: Entry | null = null;
  /** Members that the rest of the filter tests; `null` if it needs the whole entry. */
  readonly #slices: MemberSlices | null;

  constructor(filter: LogFilter, meter: WorkMeter) {
    this.#others = { ...filter, rest: null };
    this.#meter = meter;
    const { session, traceId, search, data, rest, ...unread }: ContentFilter = filter;
    unread satisfies NoMembers;
    this.#rest = rest;
    this.#slices = rest?.members ? new MemberSlices(rest.members) : null;
    this.#wanted = [session, traceId].map((id) => (id === null ? null : toByteString(JSON.stringify(id).slice(1, -1))));
    this.#tests = new DataTests(data);
    this.#search = search === null ? null : new TextSearch(search);
    this.#byteWork = WORK.readByte + (this.#search?.byteWork ?? 0);
  }

  /** Sets the piece of the next lines. @param text the same bytes, one character each */
  open(raw: Buffer, text: string): void {
    this.#raw = raw;
    this.#text = text;
    this.#search?.open(text);
  }

  /**
   * @param start,end of the line in the piece
   * @param severity level at the beginning of the line
   * @param place of the line; `null` if the filter has no part of the query language
   */
  read(start: number, end: number, severity: number, place: EntryPlace | null = null): FirstVerdict {
    this.#meter.add(WORK.readLine + (end - start) * this.#byteWork);
    const passed = this.#read(start, end, severity);
    const rest = this.#rest;
    if (passed === false) return "fails";
    if (passed === true && rest === null) return "passes";
    const entry = passed === null || this.#slices === null ? this.#parsed(start, end) : this.#partOf(severity);
    if (entry === null) return "damaged";
    if (!(passed ?? matchesContent(this.#others, entry))) return "fails";
    if (rest === null) return "passes";
    if (place === null) throw new RangeError("A filter of the query language needs the places of entries.");
    if (rest.steps === null) {
      beginPathWork();
      const passes = rest.test(entry, place);
      this.#meter.add(rest.lineWork + takePathWork());
      return passes ? "passes" : "fails";
    }
    this.#entry = entry;
    return "open";
  }

  #parsed(start: number, end: number): Entry | null {
    const objects = this.#objects.of(this.#raw, start, end);
    this.#meter.add(PARSED_LINE_WORK + (end - start) * PARSED_BYTE_WORK + objects);
    return parseStoredLine(this.#raw.toString("utf8", start, end));
  }

  /** Returns the members that the rest of the filter tests, of a line that `#read` has read. */
  #partOf(severity: number): Entry | null {
    const slices = this.#slices;
    if (slices === null) return null;
    this.#meter.add(PART_WORK + slices.bytes * PARSED_BYTE_WORK + slices.objectWork(this.#raw, this.#objects));
    return slices.entry(this.#raw, severity);
  }

  /** Decides about the line that `read` has left open, in steps that the meter ends. */
  *decide(place: EntryPlace | null): Generator<void, Verdict> {
    const steps = this.#rest?.steps;
    if (!steps || this.#entry === null || place === null) throw new RangeError("No line is open.");
    return (yield* steps(this.#entry, place, this.#meter)) ? "passes" : "fails";
  }

  /** Returns `null` if the line must be parsed. */
  #read(start: number, end: number, severity: number): boolean | null {
    this.#end = end;
    this.#isFound = this.#search === null;
    this.#tests.beginLine();
    const text = this.#text;
    const time = start + TIMESTAMP.length;
    if (!text.startsWith(TIMESTAMP, start) || !isTime(text, time)) return null;
    const level = LEVEL_PARTS[severity] ?? "";
    if (!text.startsWith(level, time + TIMESTAMP_LENGTH)) return null;
    const slices = this.#slices;
    slices?.begin();
    let from = time + TIMESTAMP_LENGTH + level.length;
    let at = this.#string(from);
    if (at < 0 || !text.startsWith(TYPE, at)) return null;
    slices?.text(CATEGORY, from, at - 1);
    from = at + TYPE.length;
    at = this.#string(from);
    if (at < 0 || !text.startsWith(MESSAGE, at)) return null;
    slices?.text(CATEGORY + 1, from, at - 1);
    from = at + MESSAGE.length;
    at = this.#searched(from);
    if (at < 0) return null;
    slices?.text(CATEGORY + 2, from, at - 1);
    let passes = true;
    for (let member = 0; member < MEMBERS.length; member++) {
      const { head, isOwn } = MEMBERS[member] ?? { head: "", isOwn: false };
      const wanted = this.#wanted[member] ?? null;
      if (!text.startsWith(head, at)) {
        if (wanted !== null) passes = false;
        continue;
      }
      const name = at + 2;
      from = at + head.length;
      at = isOwn ? this.#searched(from) : this.#string(from);
      if (at < 0) return null;
      slices?.text(CATEGORY + 3 + member, from, at - 1);
      // Both texts are canonical JSON, so equal values have equal bytes.
      if (wanted !== null && !(at - 1 - from === wanted.length && text.startsWith(wanted, from))) passes = false;
      const node = isOwn ? this.#tests.root?.member(text, name, from - 3) : null;
      if (node) this.#tests.foundOwn(node, from, at - 1);
    }
    if (text.startsWith(DATA, at)) {
      const data = at + DATA.length;
      if (this.#raw[data] !== OPEN_BRACE) return null;
      slices?.data();
      at = this.#value(data, this.#tests.root, 1);
    }
    if (at !== end - 1 || this.#raw[at] !== CLOSE_BRACE) return null;
    return passes && this.#isFound && this.#tests.hold(this.#raw, this.#strings, this.#meter);
  }

  /**
   * @param at index after the opening quote
   * @returns the index after the closing quote; negative if there is no string
   */
  #string(at: number): number {
    return this.#strings.endOf(this.#raw, at, this.#end) + 1 || -1;
  }

  /** Like `#string`, for a string that `search` tests. */
  #searched(from: number): number {
    const end = this.#strings.endOf(this.#raw, from, this.#end);
    if (end < 0) return -1;
    const search = this.#search;
    if (this.#isFound || search === null || !search.mayBeIn(from, end)) return end + 1;
    this.#meter.add(WORK.text + (end - from) * (this.#strings.isAscii ? WORK.textByte : WORK.wideTextByte));
    this.#isFound = search.isIn(this.#strings.decoded(this.#raw, from, end));
    return end + 1;
  }

  /**
   * @param node the path of the value; `null` if no test names it
   * @returns the index after the value; negative if the line must be parsed
   */
  #value(at: number, node: PathNode | null, depth: number): number {
    const byte = this.#raw[at] ?? 0;
    if (byte === QUOTE) {
      const behind = this.#searched(at + 1);
      if (node !== null) this.#tests.found(node, VALUE.string, at + 1, behind - 1);
      return behind;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth > MAX_DEPTH) return -1;
      if (node !== null) this.#tests.found(node, VALUE.nested, at, at);
      return byte === OPEN_BRACE ? this.#object(at, node, depth) : this.#array(at, node, depth);
    }
    if (byte >= FIRST_LETTER) return this.#word(byte, at, node);
    const behind = numberEnd(this.#raw, at);
    if (behind < 0) return behind;
    if (!this.#isFound) this.#searchNumber(at, behind);
    if (node !== null) this.#tests.found(node, VALUE.number, at, behind);
    return behind;
  }

  #searchNumber(from: number, to: number): void {
    if (!this.#search?.mayBeInNumber(from, to)) return;
    this.#meter.add(WORK.text + (to - from) * WORK.textByte);
    this.#isFound = this.#search.isInNumber(from, to);
  }

  #word(letter: number, at: number, node: PathNode | null): number {
    const raw = this.#raw;
    const word = letter === TRUE.bytes[0] ? TRUE : letter === FALSE.bytes[0] ? FALSE : NULL;
    const { bytes } = word;
    for (let index = 0; index < bytes.length; index++) if (raw[at + index] !== bytes[index]) return -1;
    if ((word === TRUE && this.#search?.isInTrue) || (word === FALSE && this.#search?.isInFalse)) this.#isFound = true;
    if (node !== null) this.#tests.found(node, word.value, at, at + bytes.length);
    return at + bytes.length;
  }

  #object(open: number, node: PathNode | null, depth: number): number {
    const raw = this.#raw;
    if (raw[open + 1] === CLOSE_BRACE) return open + 2;
    for (let at = open + 1; ; ) {
      if (raw[at] !== QUOTE) return -1;
      const name = at + 1;
      const nameEnd = this.#strings.endOf(raw, name, this.#end);
      if (nameEnd < 0 || raw[nameEnd + 1] !== COLON) return -1;
      // An escape may be written in two ways. The name is compared as written, which is how `JSON.stringify` writes it.
      const child = node === null ? null : node.member(this.#text, name, nameEnd);
      at = this.#value(nameEnd + 2, child, depth + 1);
      if (at < 0) return -1;
      if (depth === 1 && this.#slices?.wants(this.#text, name, nameEnd)) this.#slices.member(name - 1, at);
      const byte = raw[at++];
      if (byte === CLOSE_BRACE) return at;
      if (byte !== COMMA) return -1;
    }
  }

  #array(open: number, node: PathNode | null, depth: number): number {
    const raw = this.#raw;
    if (raw[open + 1] === CLOSE_BRACKET) return open + 2;
    const items = node?.items ?? null;
    for (let at = open + 1, index = 0; ; index++) {
      at = this.#value(at, items?.get(index) ?? null, depth + 1);
      if (at < 0) return -1;
      const byte = raw[at++];
      if (byte === CLOSE_BRACKET) return at;
      if (byte !== COMMA) return -1;
    }
  }
}
