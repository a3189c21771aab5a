import { categoryBit, type Entry, LEVELS, levelBit, OTHER_CATEGORY_BIT } from "../entry.ts";
import { isRecord, valueAt } from "./data-path.ts";
import { foldCase } from "./fold-case.ts";
import { isListed } from "./listed.ts";

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
