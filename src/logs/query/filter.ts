import { categoryBit, type Entry, LEVELS, levelBit, OTHER_CATEGORY_BIT } from "../entry.ts";
import { someText } from "../search/data-values.ts";
import type { EntryPlace } from "../search/entry-test.ts";
import type { RestFilter } from "../search/rest-filter.ts";
import { dataAt, valueAt } from "./data-path.ts";
import { foldCase } from "./fold-case.ts";

/** Number of values up to which comparing with each is faster than a set. */
export const FEW = 8;

/** Sets of long lists. A query tests a list for every line, and a list may have a thousand values. */
const sets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

/** Whether a list has a value. The list must not change. */
export function isListed(list: readonly unknown[], value: unknown): boolean {
  if (list.length <= FEW) return list.includes(value);
  let set = sets.get(list);
  if (set === undefined) {
    set = new Set(list);
    sets.set(list, set);
  }
  return set.has(value);
}

export type Scalar = string | number | boolean | null;

/** One test of one value of `data`. Several tests of one path must all hold. */
export type DataCondition =
  | { path: readonly string[]; op: "eq" | "ne"; value: Scalar }
  | { path: readonly string[]; op: "gt" | "gte" | "lt" | "lte"; value: number | string }
  | { path: readonly string[]; op: "in"; value: readonly Scalar[] }
  | { path: readonly string[]; op: "exists"; value: boolean };

/** The conditions of a query on an entry. All that are not `null` must hold. */
export interface LogFilter {
  /** Mask of the wanted levels, `level` and `minLevel` combined; 0 if they exclude each other. */
  levelMask: number;
  categories: readonly string[] | null;
  types: readonly string[] | null;
  session: string | null;
  traceId: string | null;
  /** Epoch milliseconds: `from <= timestamp < to`. */
  from: number | null;
  to: number | null;
  /** Folded; see `foldCase`. */
  search: string | null;
  data: readonly DataCondition[];
  /** The part of a filter of the query language that no other member expresses. Holds functions, so it crosses no RPC. */
  rest: RestFilter | null;
}

export const ALL_LEVELS_MASK = (1 << LEVELS.length) - 1;
export const ALL_CATEGORIES_MASK = (1 << (OTHER_CATEGORY_BIT + 1)) - 1;

/** The filter that every entry passes. */
export const OPEN_FILTER: LogFilter = {
  levelMask: ALL_LEVELS_MASK,
  categories: null,
  types: null,
  session: null,
  traceId: null,
  from: null,
  to: null,
  search: null,
  data: [],
  rest: null,
};

/** The type of what is left of a filter when every member is handled. A forgotten member does not compile. */
export type NoMembers = Record<string, never>;

type FilterName = keyof LogFilter;

interface FilterMember<T> {
  /**
   * The part of a line that decides. `time`: the timestamp. `counts`: the members that summaries count. `content`: the
   * whole line.
   */
  decidedBy: "time" | "counts" | "content";
  /** Whether few of all entries can pass, in whichever batch, if the member is set. */
  isId: boolean;
  /** Whether every entry passes. */
  isOpen(value: T): boolean;
  /**
   * @param timestamp of the entry, epoch milliseconds
   * @param place `null` if the caller has no filter of the query language
   */
  passes(value: T, entry: Entry, timestamp: number, place: EntryPlace | null): boolean;
  /**
   * Returns a JSON value. Values that differ only in order or repetition have the same one. `undefined` is left out: a
   * member that was added later, and is open, does not change fingerprints.
   */
  canonical(value: T): unknown;
}

const isNull = (value: unknown) => value === null;
const asItIs = (value: unknown) => value;

function idMember(name: "session" | "traceId") {
  return {
    decidedBy: "content",
    isId: true,
    isOpen: isNull,
    passes: (id: string | null, entry: Entry) => id === null || entry[name] === id,
    canonical: asItIs,
  } as const;
}

/**
 * The properties of each member. The functions below follow from them; a member without a row does not compile. In the
 * order of `fingerprint`.
 */
const MEMBERS = {
  levelMask: {
    decidedBy: "counts",
    isId: false,
    isOpen: (mask) => mask === ALL_LEVELS_MASK,
    passes: (mask, { level }) => (levelBit(level) & mask) !== 0,
    canonical: asItIs,
  },
  categories: {
    decidedBy: "counts",
    isId: false,
    isOpen: isNull,
    passes: (names, { category }) => names === null || isListed(names, category),
    canonical: sortedNames,
  },
  types: {
    decidedBy: "counts",
    isId: false,
    isOpen: isNull,
    passes: (names, { type }) => names === null || isListed(names, type),
    canonical: sortedNames,
  },
  session: idMember("session"),
  traceId: idMember("traceId"),
  from: {
    decidedBy: "time",
    isId: false,
    isOpen: isNull,
    passes: (from, _entry, timestamp) => from === null || timestamp >= from,
    canonical: asItIs,
  },
  to: {
    decidedBy: "time",
    isId: false,
    isOpen: isNull,
    passes: (to, _entry, timestamp) => to === null || timestamp < to,
    canonical: asItIs,
  },
  search: {
    decidedBy: "content",
    isId: false,
    isOpen: isNull,
    passes: (needle, { message, service, host, data }) =>
      needle === null || [message, service, host, data].some((value) => containsText(value, needle)),
    canonical: asItIs,
  },
  data: {
    decidedBy: "content",
    isId: false,
    isOpen: (conditions) => conditions.length === 0,
    passes: (conditions, entry) => conditions.every((condition) => passesCondition(condition, entry)),
    canonical: (conditions) => conditions.map(({ path, op, value }) => JSON.stringify([path, op, value])).sort(),
  },
  rest: {
    decidedBy: "content",
    isId: false,
    isOpen: isNull,
    passes: (rest, entry, _timestamp, place) => rest === null || passesRest(rest, entry, place),
    canonical: (rest) => rest?.text,
  },
} satisfies { readonly [Name in FilterName]-?: FilterMember<LogFilter[Name]> };

type DecidedBy<Part> = {
  [Name in FilterName]: (typeof MEMBERS)[Name]["decidedBy"] extends Part ? Name : never;
}[FilterName];
/** The part of a filter that the beginning of a line decides. */
export type HeadFilter = Pick<LogFilter, DecidedBy<"time" | "counts">>;
/** The part of a filter that needs the whole line. */
export type ContentFilter = Pick<LogFilter, DecidedBy<"content">>;

// SAFETY: the names are those of the literal above.
const NAMES = Object.keys(MEMBERS) as FilterName[];
const CONTENT_NAMES = NAMES.filter((name) => memberOf(name).decidedBy === "content");

function memberOf<Name extends FilterName>(name: Name): FilterMember<LogFilter[Name]> {
  const members: { readonly [Each in FilterName]: FilterMember<LogFilter[Each]> } = MEMBERS;
  return members[name];
}

function isSet<Name extends FilterName>(filter: LogFilter, name: Name): boolean {
  return !memberOf(name).isOpen(filter[name]);
}

function passes<Name extends FilterName>(filter: LogFilter, name: Name, entry: Entry, at: number, place: AnyPlace) {
  return memberOf(name).passes(filter[name], entry, at, place);
}

/** Required by `rest` alone. */
type AnyPlace = EntryPlace | null;

/** Whether an entry passes. `at` is its timestamp, in epoch milliseconds. */
export function matchesFilter(filter: LogFilter, entry: Entry, at: number, place: AnyPlace = null): boolean {
  return NAMES.every((name) => passes(filter, name, entry, at, place));
}

/** Tests the part of a filter that needs a parsed entry. */
export function matchesContent(filter: LogFilter, entry: Entry, place: AnyPlace = null): boolean {
  return CONTENT_NAMES.every((name) => passes(filter, name, entry, 0, place));
}

function passesRest(rest: RestFilter, entry: Entry, place: EntryPlace | null): boolean {
  if (place === null) throw new RangeError("A filter of the query language needs the places of entries.");
  return rest.test(entry, place);
}

/** Whether a filter needs whole lines. Otherwise the beginning of a line decides, and summaries suffice for counts. */
export function needsContent(filter: LogFilter): boolean {
  return CONTENT_NAMES.some((name) => isSet(filter, name));
}

/** Whether every entry within the time range passes. */
export function isOpenInRange(filter: LogFilter): boolean {
  return NAMES.every((name) => memberOf(name).decidedBy === "time" || !isSet(filter, name));
}

/** Whether only few of all entries can pass, in whichever batch. */
export function isForOneId(filter: LogFilter): boolean {
  return NAMES.some((name) => memberOf(name).isId && isSet(filter, name));
}

/** Returns the members of a filter as JSON values that are equal for equal filters. */
export function canonicalValues(filter: LogFilter): unknown[] {
  const canonical = <Name extends FilterName>(name: Name) => memberOf(name).canonical(filter[name]);
  return NAMES.map(canonical).filter((value) => value !== undefined);
}

/** Returns the category mask that a batch must share a bit with to hold an entry of these categories. */
export function categoryMaskOf({ categories, rest }: LogFilter): number {
  const own = rest === null ? ALL_CATEGORIES_MASK : rest.categoryMask;
  if (categories === null) return own;
  return own & categories.reduce((mask, category) => mask | categoryBit(category), 0);
}

/** Returns names in order, each once. */
export function sortedNames(names: readonly string[] | null): string[] | null {
  return names && [...new Set(names)].sort();
}

/** `ne` also holds if there is no value. Every other test except `exists: false` requires one. */
function passesCondition(condition: DataCondition, entry: Entry): boolean {
  const value = valueAt(dataAt(entry, condition.path), condition.path);
  switch (condition.op) {
    case "eq":
      return value === condition.value;
    case "ne":
      return value !== condition.value;
    case "in":
      return isListed(condition.value, value);
    case "exists":
      return (value !== undefined) === condition.value;
    default:
      return isOrdered(condition.op, value, condition.value);
  }
}

/**
 * Compares numbers with numbers, and strings with strings by code unit. Values of different types are never ordered.
 */
export function isOrdered(op: "gt" | "gte" | "lt" | "lte", value: unknown, bound: number | string): boolean {
  if (typeof value === "number" && typeof bound === "number") return hasOrder(op, value - bound);
  if (typeof value !== "string" || typeof bound !== "string") return false;
  return hasOrder(op, value < bound ? -1 : value > bound ? 1 : 0);
}

function hasOrder(op: "gt" | "gte" | "lt" | "lte", difference: number): boolean {
  switch (op) {
    case "gt":
      return difference > 0;
    case "gte":
      return difference >= 0;
    case "lt":
      return difference < 0;
    case "lte":
      return difference <= 0;
  }
}

/** Member names and null do not count. @param needle folded */
function containsText(value: unknown, needle: string): boolean {
  return someText(value, (text) => foldCase(text).includes(needle));
}
