import { WORK } from "./budget.ts";
import { bytePattern, tellingPart, toByteString } from "./case-folding.ts";
import { type DataCondition, isArrayIndex, isOrdered, type LogFilter, type Scalar } from "./filter.ts";

/**
 * Something that every line must contain to pass a filter. A line that does may still fail it, never the other way
 * round: this is what spares most lines a closer look.
 *
 * Lines are written by `JSON.stringify`, so a member and its value have one spelling: `"name":value`.
 */
export interface Needle {
  /** Bytes that stand wherever the needle does; null where there are none. A body without them needs no further look. */
  readonly bytes: Buffer | null;
  /** Units of work for each byte that it goes over. */
  readonly byteWork: number;
  /** Occurrences looked at so far whose value has been tested. */
  tested: number;
  /** A place in the line of the next occurrence at or behind `from`; -1 when there is none. */
  next(bytes: string, from: number): number;
}

/** A needle to be made, if it is one of those that tell most. */
interface Wish {
  /** The lower, the fewer lines are likely to have it. */
  rank: number;
  /** Of two with the same key, one is enough. */
  key: string;
  make(): Needle;
}

/** Needles that lines are tested for: each goes over all bytes once, and what they leave is looked at closely. */
const MAX_NEEDLES = 5;
/** Bytes of a needle: a search in hostile bytes may compare all of them at each place. */
const NEEDLE_BYTES = 32;
/** Of a longer text, the last bytes that its telling part is looked for in: identifiers end in what sets them apart. */
const TELLING_BYTES = 128;
/** Bytes from which the runtime's search skips ahead. A shorter needle is compared at each of its first bytes. */
const SKIPPING_BYTES = 8;
const LONG_BYTE_WORK = 0.3;
const SHORT_BYTE_WORK = 1.5;
/** A pattern costs the more the more often its characters repeat, as then hostile bytes nearly match at each place. */
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
  const { search } = filter;
  if (search !== null) wishes.push({ rank: 2, key: "", make: () => searchNeedle(search) });
  const known = new Set<string>();
  const chosen = wishes
    .sort((a, b) => a.rank - b.rank)
    .filter(({ key }) => !known.has(key) && known.add(key).size <= MAX_NEEDLES);
  return chosen.map(({ make }) => make());
}

function dataWish(condition: DataCondition): Wish | null {
  if (condition.op === "ne" || (condition.op === "exists" && !condition.value)) return null;
  const name = condition.path.at(-1);
  // A number may be an array's index, which is not written: only the last name before it surely is.
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

/** Of a long text the part with the most different bytes; of equals the last. */
function tellingBytes(text: string): string {
  if (text.length <= NEEDLE_BYTES) return text;
  const end = text.slice(-TELLING_BYTES);
  let best = 0;
  let most = 0;
  for (let at = 0; at + NEEDLE_BYTES <= end.length; at++) {
    const different = new Set(end.slice(at, at + NEEDLE_BYTES)).size;
    if (different < most) continue;
    most = different;
    best = at;
  }
  return end.slice(best, best + NEEDLE_BYTES);
}

/** What the pattern of a search costs for each byte that it goes over. @param part of it that the pattern is made of */
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
      // The last byte of the match: like every other, it is in the line that the match is in.
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

/** A number or a word. */
const SCALAR = /[-+.\w]+/y;

/** Whether one of these scalars begins at a place. Both are written as `JSON.stringify` does, so equal ones are equal texts. */
function isOneOf(wanted: ReadonlySet<string>, longest: number, bytes: string, at: number): boolean {
  if (bytes[at] === '"') {
    const quote = bytes.indexOf('"', at + 1);
    // An escaped quote, maybe: the line is looked at closely.
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

/** Members of a name whose value, which begins at `at`, passes a test. */
function memberNeedle(name: string, passes: (bytes: string, at: number) => boolean): Needle {
  const written = toByteString(nameText(name));
  // A long name is told by its end, which the value follows.
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

/** What the needles have done since the last call that goes beyond their bytes, in units of work. */
export function takeTested(needles: readonly Needle[]): number {
  let tested = 0;
  for (const needle of needles) {
    tested += needle.tested;
    needle.tested = 0;
  }
  return tested * WORK.occurrence;
}
