import { categoryBit, type Entry, LEVELS, levelBit, OTHER_CATEGORY_BIT } from "../entry.ts";

/**
 * Text as `search` compares it: in lower case. Sigma has two small forms, and which one `toLowerCase` gives depends on the
 * letters around it; as one form, a part of a word is a part of the folded word.
 */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll("\u03c2", "\u03c3");
}

/** Values up to which it is quicker to look at each. */
const FEW = 8;

/** Sets of long lists. A list is asked for every line that a query looks at, and may have a thousand values. */
const sets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

/** Whether a list, which does not change, has a value. */
export function isListed(list: readonly unknown[], value: unknown): boolean {
  if (list.length <= FEW) return list.includes(value);
  let set = sets.get(list);
  if (set === undefined) {
    set = new Set(list);
    sets.set(list, set);
  }
  return set.has(value);
}

/** Names as JSON strings with both their quotes, as bytes, one character each. As a quote inside is escaped, a prefix is equality. */
export class ListedNames {
  readonly #names: readonly string[];
  readonly #next: string;

  /** @param next what stands behind each in a line, from its closing quote on */
  constructor(names: readonly string[], next: string) {
    this.#names = names;
    this.#next = next;
  }

  /** Whether one of them stands at this place of a line. */
  isAt(bytes: string, at: number): boolean {
    if (this.#names.length <= FEW) return this.#names.some((name) => bytes.startsWith(name, at));
    const end = bytes.indexOf(this.#next, at);
    return end >= 0 && isListed(this.#names, bytes.slice(at, end + 1));
  }
}

/**
 * Paths into an entry's `data`: members named by ".", as in `user.plan`. A name with a dot (or a bracket) in it is
 * written as a JSON string in brackets: `["user.plan"]`, `request["x.id"].length`. A number indexes an array, as in
 * `items.0.id` or `items[0].id`, and names a member of an object. Nothing stands for "any element".
 */

const NAME = String.raw`\["(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"\]|\[(?:0|[1-9]\d*)\]`;
const STEP = String.raw`(?:${NAME}|[^.[\]]+)`;

/** What is a path, as the document of the API has it. */
export const DATA_PATH = new RegExp(String.raw`^${STEP}(?:\.${STEP}|${NAME})*$`);

const QUOTED = /\["(?:[^"\\]|\\.)*"\]/y;
const INDEX = /\[(?:0|[1-9]\d*)\]/y;
const BARE = /[^.[\]]+/y;
const ARRAY_INDEX = /^(?:0|[1-9]\d*)$/;

/** The names of a path in order, or null where it is not a path. */
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

/** Whether a name can index an array: only such a name reaches into one, so `length` does not. */
export function isArrayIndex(name: string): boolean {
  return ARRAY_INDEX.test(name);
}

/** The value at a path, undefined where there is none. Own members only: what an object inherits is not data. */
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

/** One test on one value of `data`. Several on one path hold together. */
export type DataCondition =
  | { path: readonly string[]; op: "eq" | "ne"; value: Scalar }
  | { path: readonly string[]; op: "gt" | "gte" | "lt" | "lte"; value: number | string }
  | { path: readonly string[]; op: "in"; value: readonly Scalar[] }
  | { path: readonly string[]; op: "exists"; value: boolean };

/** What a query asks of an entry: everything that is not null holds together. */
export interface LogFilter {
  /** Bits of the levels wanted, `level` and `minLevel` taken together; 0 when they exclude each other. */
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

/** The bits that a batch must share with to hold an entry of these categories. */
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

/** The part of a filter that needs a parsed entry. */
export function matchesContent(filter: LogFilter, entry: Entry): boolean {
  if (filter.session !== null && entry.session !== filter.session) return false;
  if (filter.traceId !== null && entry.traceId !== filter.traceId) return false;
  if (!filter.data.every((condition) => passesCondition(condition, entry.data))) return false;
  return (
    filter.search === null || containsText(entry.message, filter.search) || containsText(entry.data, filter.search)
  );
}

/** `ne` also holds where there is no such value; every other test but `exists: false` needs one. */
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

/** Numbers with numbers and strings with strings, by code unit; never across types. */
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
 * Whether any string at any depth, or the JSON text of any number or boolean, contains `needle`, which is folded. Member
 * names and null do not count.
 */
function containsText(value: unknown, needle: string): boolean {
  if (typeof value === "string") return foldCase(value).includes(needle);
  // In lower case already, but for `Infinity`, which JSON does not have.
  if (typeof value === "number" || typeof value === "boolean") return String(value).includes(needle);
  if (Array.isArray(value)) return value.some((item) => containsText(item, needle));
  return isRecord(value) && Object.values(value).some((member) => containsText(member, needle));
}
