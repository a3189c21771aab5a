import type { Filter, OwnField } from "../../query-language/syntax.ts";
import { literalOf, literalOfValue } from "../search/literals.ts";
import { WORK } from "./budget.ts";
import { bytePattern, tellingPart, toByteString } from "./case-folding.ts";
import { isArrayIndex } from "./data-path.ts";
import { type DataCondition, isOrdered, type LogFilter, type Scalar } from "./filter.ts";

/**
 * Bytes that every matching line contains. A line with the needle may still fail the filter. Needles spare most lines a
 * full test.
 *
 * `JSON.stringify` writes the lines, so a member and its value have one spelling: `"name":value`.
 */
export interface Needle {
  /** Bytes that occur wherever the needle does; `null` if there are none. A body without them has no match. */
  readonly bytes: Buffer | null;
  /** Work units for each scanned byte. */
  readonly byteWork: number;
  /** Number of occurrences so far whose value was tested. */
  tested: number;
  /** Returns an index in the line of the next occurrence at or after `from`; -1 if there is none. */
  next(bytes: string, from: number): number;
}

/** A candidate for a needle. */
interface Wish {
  /** Rank by expected number of matching lines, the lowest first. */
  rank: number;
  /** Candidates with equal keys are redundant. */
  key: string;
  make(): Needle;
}

/** Maximum number of needles. Each scans all bytes once; lines with all of them are tested in full. */
const MAX_NEEDLES = 5;
/** Maximum bytes of a needle. A search in hostile bytes may compare all of them at each index. */
const NEEDLE_BYTES = 32;
/**
 * Number of last bytes of a longer text in which the most selective part is searched, because identifiers differ at the
 * end.
 */
const TELLING_BYTES = 128;
/** Length from which the runtime's search skips ahead. A shorter needle is compared wherever its first byte occurs. */
const SKIPPING_BYTES = 8;
const LONG_BYTE_WORK = 0.3;
const SHORT_BYTE_WORK = 1.5;
/** A pattern with repeated characters costs more, because hostile bytes nearly match at each index. */
const PATTERN_BYTE_WORK = 0.5;
const REPETITION_BYTE_WORK = 1.5;

export function needlesOf(filter: LogFilter): Needle[] {
  const wishes: Wish[] = [];
  if (filter.session !== null) wishes.push(textWish(0, memberText("session", filter.session)));
  if (filter.traceId !== null) wishes.push(textWish(0, memberText("traceId", filter.traceId)));
  for (const condition of filter.data) {
    const wish = dataWish(condition);
    if (wish !== null) wishes.push(wish);
  }
  const { search, rest } = filter;
  if (rest !== null) wishes.push(...languageWishes(rest.filter));
  if (search !== null) wishes.push({ rank: 2, key: "", make: () => searchNeedle(search) });
  const known = new Set<string>();
  const chosen = wishes
    .sort((a, b) => a.rank - b.rank)
    .filter(({ key }) => !known.has(key) && known.add(key).size <= MAX_NEEDLES);
  return chosen.map(({ make }) => make());
}

/** Own fields whose text is in the line as it is. */
const WRITTEN = new Set<OwnField>(["message", "session", "trace", "span", "service", "host"]);

/** @param filter of the query language */
function languageWishes(filter: Filter): Wish[] {
  if (filter.kind === "and") return filter.filters.flatMap(languageWishes);
  if (filter.kind === "text") return textWishes(2, literalOf(filter.test));
  if (filter.kind !== "field" || (filter.field.kind === "own" && !WRITTEN.has(filter.field.name))) return [];
  const { field, test } = filter;
  const wishes = textWishes(test.kind === "is" || test.kind === "exact" ? 1 : 2, literalOfValue(test));
  // The name of the member ends so, whether its path is nested or has dots.
  const name = field.kind === "data" ? field.path.findLast((part) => typeof part === "string") : undefined;
  return name === undefined ? wishes : [...wishes, textWish(4, nameText(name).slice(1))];
}

function textWishes(rank: number, literal: string): Wish[] {
  if (literal === "") return [];
  return [{ rank, key: `literal ${literal}`, make: () => searchNeedle(literal) }];
}

function dataWish(condition: DataCondition): Wish | null {
  if (condition.op === "ne" || (condition.op === "exists" && !condition.value)) return null;
  const name = condition.path.at(-1);
  // A number may be an array's index, which is not written. Only the last name before it certainly is.
  if (name === undefined || isArrayIndex(name)) {
    const parent = condition.path.findLast((part) => !isArrayIndex(part));
    return parent === undefined ? null : textWish(4, nameText(parent));
  }
  switch (condition.op) {
    case "exists":
      return textWish(4, nameText(name));
    case "eq":
      return textWish(1, memberText(name, condition.value));
    case "in":
      return inWish(name, condition.value);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return rangeWish(name, condition.op, condition.value);
  }
}

function nameText(name: string): string {
  return `${JSON.stringify(name)}:`;
}

function memberText(name: string, value: Scalar): string {
  return `${nameText(name)}${JSON.stringify(value)}`;
}

function textWish(rank: number, text: string): Wish {
  return { rank, key: text, make: () => textNeedle(text) };
}

function textNeedle(text: string): Needle {
  const wanted = tellingBytes(toByteString(text));
  return {
    bytes: Buffer.from(wanted, "latin1"),
    byteWork: byteWorkOf(wanted),
    tested: 0,
    next: (bytes, from) => bytes.indexOf(wanted, from),
  };
}

function byteWorkOf({ length }: string): number {
  return length < SKIPPING_BYTES ? SHORT_BYTE_WORK : LONG_BYTE_WORK;
}

/** Returns, for a long text, the part with the most different bytes, and of equal parts the last one. */
function tellingBytes(text: string): string {
  if (text.length <= NEEDLE_BYTES) return text;
  const end = text.slice(-TELLING_BYTES);
  let best = 0;
  let highest = 0;
  for (let at = 0; at + NEEDLE_BYTES <= end.length; at++) {
    const different = new Set(end.slice(at, at + NEEDLE_BYTES)).size;
    if (different < highest) continue;
    highest = different;
    best = at;
  }
  return end.slice(best, best + NEEDLE_BYTES);
}

/** Returns the work units of the pattern of a search for each scanned byte. @param part of which the pattern is made */
export function patternWork(part: string): number {
  const characters = [...part];
  return PATTERN_BYTE_WORK + (characters.length / new Set(characters).size - 1) * REPETITION_BYTE_WORK;
}

function searchNeedle(search: string): Needle {
  const part = tellingPart(search);
  const pattern = bytePattern(part);
  return {
    bytes: null,
    byteWork: patternWork(part),
    tested: 0,
    next(bytes, from) {
      pattern.lastIndex = from;
      // Returns the last byte of the match. It is in the same line as all others.
      return pattern.test(bytes) ? pattern.lastIndex - 1 : -1;
    },
  };
}

function inWish(name: string, values: readonly Scalar[]): Wish {
  const [only] = values;
  if (only !== undefined && values.length === 1) return textWish(1, memberText(name, only));
  return {
    rank: 2,
    key: `${nameText(name)} in`,
    make: () => {
      const wanted = new Set(values.map((value) => toByteString(JSON.stringify(value))));
      const longest = Math.max(...[...wanted].map((text) => text.length));
      return memberNeedle(name, (bytes, at) => isOneOf(wanted, longest, bytes, at));
    },
  };
}

/** Matches a number or a word. */
const SCALAR = /[-+.\w]+/y;

/** Whether one of these scalars begins at an index. `JSON.stringify` wrote both, so equal values are equal texts. */
function isOneOf(wanted: ReadonlySet<string>, longest: number, bytes: string, at: number): boolean {
  if (bytes[at] === '"') {
    const quote = bytes.indexOf('"', at + 1);
    // The quote may be escaped, so the line is tested in full.
    if (bytes[quote - 1] === "\\") return true;
    return quote - at < longest && wanted.has(bytes.slice(at, quote + 1));
  }
  SCALAR.lastIndex = at;
  return SCALAR.test(bytes) && wanted.has(bytes.slice(at, SCALAR.lastIndex));
}

const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]\d+)?/y;

function rangeWish(name: string, op: "gt" | "gte" | "lt" | "lte", bound: number | string): Wish {
  if (typeof bound === "string") return textWish(3, `${nameText(name)}"`);
  const make = () =>
    memberNeedle(name, (bytes, at) => {
      NUMBER.lastIndex = at;
      const number = NUMBER.exec(bytes);
      return number !== null && isOrdered(op, Number(number[0]), bound);
    });
  return { rank: 3, key: `${nameText(name)} ${op} ${bound}`, make };
}

/** Returns a needle for members with a name whose value, which begins at `at`, passes a test. */
function memberNeedle(name: string, passes: (bytes: string, at: number) => boolean): Needle {
  const written = toByteString(nameText(name));
  // The end of a long name identifies it; the value follows the end.
  const wanted = written.slice(-NEEDLE_BYTES);
  return {
    bytes: Buffer.from(wanted, "latin1"),
    byteWork: byteWorkOf(wanted),
    tested: 0,
    next(bytes, from) {
      for (let at = bytes.indexOf(wanted, from); at >= 0; at = bytes.indexOf(wanted, at + 1)) {
        this.tested++;
        if (passes(bytes, at + wanted.length)) return at;
      }
      return -1;
    },
  };
}

/** Returns the work units of the needles since the last call, excluding the work for scanned bytes. */
export function takeTested(needles: readonly Needle[]): number {
  let tested = 0;
  for (const needle of needles) {
    tested += needle.tested;
    needle.tested = 0;
  }
  return tested * WORK.occurrence;
}
