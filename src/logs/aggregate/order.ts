import { LEVELS } from "../entry.ts";
import type { Aggregator } from "./aggregator.ts";
import { NULL_ID } from "./groups.ts";
import { sortInSteps } from "./sorting.ts";
import { compareTexts } from "./values.ts";

/** The order of a table's rows: by a column, then by all keys. */
export interface TableSort {
  /** Index of the column. */
  column: number;
  order: "asc" | "desc";
}

/** What rows are compared by: ranks or values by group. NaN: the group has no value, and comes last. */
export type SortValues = (group: number) => number;

/**
 * Most groups that are chosen one by one instead of by a sort of all, and how many times as many there must be. `top 1000`
 * has one more, which shows whether it equals the last one.
 */
const MOST_CHOSEN = 1001;
const CHOSEN_SHARE = 8;
/** Work units of comparing a group with the last of the chosen ones, and of inserting it. */
const CHOICE_WORK = 30;
const INSERTION_WORK = 2000;

/**
 * Returns the first groups in order: by the values, if there are any, then by the keys as they stand in the plan, rising,
 * null last. Yields work units between two pieces of work.
 * @param limit number of groups that are needed; there may be more
 */
export function* orderGroups(
  aggregator: Aggregator,
  values: SortValues | null,
  order: "asc" | "desc",
  limit: number,
): Generator<number, Int32Array> {
  const { groups, plan } = aggregator;
  const isFew = limit <= MOST_CHOSEN && groups.count >= limit * CHOSEN_SHARE;
  if (values !== null && isFew) return yield* firstGroups(aggregator, values, order, limit);
  const ranks: Int32Array[] = [];
  for (const key of plan.keys.keys()) ranks.push(yield* keyRanks(groups.keys[key]?.texts ?? [], compareOf(plan, key)));
  const sign = order === "asc" ? 1 : -1;
  const compare = (a: number, b: number): number => {
    const difference = values === null ? 0 : compareValues(values(a), values(b), sign);
    if (difference !== 0) return difference;
    for (const [key, rank] of ranks.entries()) {
      const byKey = (rank[groups.idAt(a, key)] ?? 0) - (rank[groups.idAt(b, key)] ?? 0);
      if (byKey !== 0) return byKey;
    }
    return 0;
  };
  const ordered = Int32Array.from({ length: groups.count }, (_, group) => group);
  yield* sortInSteps(ordered, compare);
  return ordered;
}

/** Finds the first groups of an order by values. Keys of groups with equal values are compared by their texts. */
function* firstGroups(
  { groups, plan }: Aggregator,
  values: SortValues,
  order: "asc" | "desc",
  limit: number,
): Generator<number, Int32Array> {
  const sign = order === "asc" ? 1 : -1;
  const byKey = plan.keys.map((_, key) => compareOf(plan, key));
  const compare = (a: number, b: number): number => {
    const difference = compareValues(values(a), values(b), sign);
    if (difference !== 0) return difference;
    for (const [key, compareKey] of byKey.entries()) {
      const own = compareKey(groups.textAt(a, key), groups.textAt(b, key));
      if (own !== 0) return own;
    }
    return 0;
  };
  const first = new Int32Array(limit + 1);
  let count = 0;
  let work = 0;
  for (let group = 0; group < groups.count; group++) {
    work += CHOICE_WORK;
    if (count < limit || (limit > 0 && compare(group, first[limit - 1] ?? 0) < 0)) {
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (compare(first[middle] ?? 0, group) <= 0) low = middle + 1;
        else high = middle;
      }
      first.copyWithin(low + 1, low, Math.min(count, limit));
      first[low] = group;
      if (count < limit) count++;
      work += INSERTION_WORK;
    }
    if (group % COMPARED_AT_ONCE !== COMPARED_AT_ONCE - 1) continue;
    yield work;
    work = 0;
  }
  yield work;
  return first.slice(0, count);
}

/** Groups between two points at which a choice may pause. */
const COMPARED_AT_ONCE = 1024;

function compareValues(a: number, b: number, sign: number): number {
  const [hasA, hasB] = [!Number.isNaN(a), !Number.isNaN(b)];
  if (hasA && hasB) return a < b ? -sign : a > b ? sign : 0;
  return Number(hasB) - Number(hasA);
}

/** Returns the rank of each text in their order. */
export function* keyRanks(
  texts: readonly string[],
  compare: (a: string, b: string) => number,
): Generator<number, Int32Array> {
  const numbers = Int32Array.from(texts, (_, at) => at);
  yield* sortInSteps(numbers, (a, b) => compare(texts[a] ?? "", texts[b] ?? ""));
  const ranks = new Int32Array(texts.length);
  for (const [rank, at] of numbers.entries()) ranks[at] = rank;
  return ranks;
}

/** Returns how the values of a key are compared. */
function compareOf({ keys, fields }: Aggregator["plan"], key: number): (a: string, b: string) => number {
  const spec = keys[key];
  if (!spec || "binMs" in spec || fields[spec.field]?.own !== "level") return compareTexts;
  return (a, b) => severity(a) - severity(b);
}

/** By JSON text; null comes after all levels. */
const SEVERITIES: ReadonlyMap<string, number> = new Map(LEVELS.map((level, at) => [JSON.stringify(level), at]));

function severity(text: string): number {
  return severityOf(text) ?? LEVELS.length;
}

/** Returns the severity of a level. @param text its JSON; of `null` it is `null` */
export function severityOf(text: string): number | null {
  return SEVERITIES.get(text) ?? null;
}

/** Returns the values by which rows are sorted for a column of a key. */
export function* keySortValues({ groups, plan }: Aggregator, key: number): Generator<number, SortValues> {
  const ranks = yield* keyRanks(groups.keys[key]?.texts ?? [], compareOf(plan, key));
  return (group) => {
    const id = groups.idAt(group, key);
    return id === NULL_ID ? Number.NaN : (ranks[id] ?? Number.NaN);
  };
}
