import { categoryBit, type Entry, LEVELS, levelBit, OTHER_CATEGORY_BIT } from "../entry.ts";

/**
 * Returns text as `search` compares it: in lower case. Sigma has two lower case forms, and `toLowerCase` chooses by the
 * letters around it. With one form, a part of a word is a part of the folded word.
 */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll("\u03c2", "\u03c3");
}

/** Maximum number of values for which comparing with each is faster than a set. */
const FEW = 8;

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

/**
 * Names as JSON strings with their quotes, as bytes, one character each. Inner quotes are escaped, so a prefix match is
 * equality.
 */
export class ListedNames {
  readonly #names: readonly string[];
  readonly #next: string;

  /** @param next text after each name in a line, from its closing quote on */
  constructor(names: readonly string[], next: string) {
    this.#names = names;
    this.#next = next;
  }

  /** Whether one of the names is at this position of a line. */
  isAt(bytes: string, at: number): boolean {
    if (this.#names.length <= FEW) return this.#names.some((name) => bytes.startsWith(name, at));
    const end = bytes.indexOf(this.#next, at);
    return end >= 0 && isListed(this.#names, bytes.slice(at, end + 1));
  }
}

/**
 * Paths into an entry's `data`: names joined by ".", as in `user.plan`. A name with a dot or a bracket in it is written
 * as a JSON string in brackets: `["user.plan"]`, `request["x.id"].length`. A number indexes an array, as in
 * `items.0.id` or `items[0].id`, and names a member of an object. There is no wildcard for array elements.
 */

const NAME = String.raw`\["(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"\]|\[(?:0|[1-9]\d*)\]`;
const STEP = String.raw`(?:${NAME}|[^.[\]]+)`;

/** The pattern of a path, as published in OpenAPI. */
export const DATA_PATH = new RegExp(String.raw`^${STEP}(?:\.${STEP}|${NAME})*$`);

const QUOTED = /\["(?:[^"\\]|\\.)*"\]/y;
const INDEX = /\[(?:0|[1-9]\d*)\]/y;
const BARE = /[^.[\]]+/y;
const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

/** Returns the names of a path in order, or `null` if the text is not a path. */
export function parseDataPath(text: string): string[] | null {
  if (!DATA_PATH.test(text)) return null;
  const names: string[] = [];
  for (let at = 0; ; ) {
    const quoted = matchAt(QUOTED, text, at);
    const token = quoted ?? matchAt(INDEX, text, at) ?? matchAt(BARE, text, at);
    if (token === null) return null;
    const name = quoted === null ? token.replace(/^\[|\]$/g, "") : jsonString(token.slice(1, -1));
    if (name === null) return null;
    names.push(name);
    at += token.length;
    if (at === text.length) return names;
    if (text[at] === ".") at++;
    else if (text[at] !== "[") return null;
  }
}

/** Whether a name can index an array. No other name selects anything in an array, so `length` does not. */
export function isArrayIndex(name: string): boolean {
  return ARRAY_INDEX.test(name);
}

/**
 * Returns the value at a path; `undefined` if there is none. Reads own members only, because inherited ones are not
 * data.
 */
export function valueAt(data: unknown, path: readonly string[]): unknown {
  let value = data;
  for (const name of path) {
    if (Array.isArray(value)) value = isArrayIndex(name) ? value[Number(name)] : undefined;
    else if (isRecord(value) && Object.hasOwn(value, name)) value = value[name];
    else return undefined;
  }
  return value;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

function jsonString(quoted: string): string | null {
  try {
    const value: unknown = JSON.parse(quoted);
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
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
}

export const ALL_LEVELS_MASK = (1 << LEVELS.length) - 1;
export const ALL_CATEGORIES_MASK = (1 << (OTHER_CATEGORY_BIT + 1)) - 1;

/** Returns the category mask that a batch must share a bit with to hold an entry of these categories. */
export function categoryMaskOf(filter: LogFilter): number {
  if (filter.categories === null) return ALL_CATEGORIES_MASK;
  return filter.categories.reduce((mask, category) => mask | categoryBit(category), 0);
}

/** Whether an entry passes. `timestamp` is the entry's, in epoch milliseconds. */
export function matchesFilter(filter: LogFilter, entry: Entry, timestamp: number): boolean {
  if (filter.from !== null && timestamp < filter.from) return false;
  if (filter.to !== null && timestamp >= filter.to) return false;
  if ((levelBit(entry.level) & filter.levelMask) === 0) return false;
  if (filter.categories !== null && !isListed(filter.categories, entry.category)) return false;
  if (filter.types !== null && !isListed(filter.types, entry.type)) return false;
  return matchesContent(filter, entry);
}

/** Tests the part of a filter that needs a parsed entry. */
export function matchesContent(filter: LogFilter, entry: Entry): boolean {
  if (filter.session !== null && entry.session !== filter.session) return false;
  if (filter.traceId !== null && entry.traceId !== filter.traceId) return false;
  if (!filter.data.every((condition) => passesCondition(condition, entry.data))) return false;
  return (
    filter.search === null || containsText(entry.message, filter.search) || containsText(entry.data, filter.search)
  );
}

/** `ne` also holds if there is no value. Every other test except `exists: false` requires one. */
function passesCondition(condition: DataCondition, data: unknown): boolean {
  const value = valueAt(data, condition.path);
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

/**
 * Whether any string at any depth, or the JSON text of any number or boolean, contains `needle`. Member names and null
 * do not count.
 * @param needle folded
 */
function containsText(value: unknown, needle: string): boolean {
  if (typeof value === "string") return foldCase(value).includes(needle);
  // The text is in lower case, except for `Infinity`, which JSON does not have.
  if (typeof value === "number" || typeof value === "boolean") return String(value).includes(needle);
  if (Array.isArray(value)) return value.some((item) => containsText(item, needle));
  return isRecord(value) && Object.values(value).some((member) => containsText(member, needle));
}
