import type { Table } from "../../../charts/chart-data.ts";
import { columnPlaces } from "../column-places.ts";

/** Which fields differ most between the entries of two spans. */

/** A value, or `undefined` for having the field at all. */
export type Value = string | number | boolean | null | undefined;

export interface ValueDifference {
  value: Value;
  /** Entries with the value. */
  before: number;
  now: number;
  /** Parts of all entries of the span, from 0 to 1. */
  beforeShare: number;
  nowShare: number;
  /** The part of the difference of both shares that chance does not explain, from 0 to 1. */
  certain: number;
}

export interface FieldDifference {
  field: string;
  /** The largest `certain` of its values. */
  score: number;
  /** Largest first; only values whose difference chance does not explain. */
  values: ValueDifference[];
}

/** The facets of the entries of a span. */
export interface Facets extends Table {
  /** Entries of the span. */
  matched: number;
}

interface FieldCounts {
  /** Entries with the field. */
  entries: number;
  values: Map<string, { value: Value; count: number }>;
}

/** Standard deviations of a margin of error: 95 of 100 differences by chance are within it. */
const DEVIATIONS = 1.96;

/**
 * Ranks fields by the value whose share of all entries differs most, less the margin of error of 95 %. So a value of 3
 * of 4 entries does not outrank one of 600 of 1,000, and ids, whose values are all rare, come last.
 * @param listed values that a list of facets has at most. A full list may lack values that are as frequent as its last one.
 */
export function fieldDifferences(before: Facets, now: Facets, listed: number): FieldDifference[] {
  const [first, second] = [countsOf(before), countsOf(now)];
  const totals = { before: before.matched, now: now.matched };
  const differences: FieldDifference[] = [];
  for (const field of new Set([...first.keys(), ...second.keys()])) {
    const [a, b] = [first.get(field) ?? NONE, second.get(field) ?? NONE];
    const values: ValueDifference[] = [differenceOf(undefined, { before: a.entries, now: b.entries }, totals)];
    for (const key of new Set([...a.values.keys(), ...b.values.keys()])) {
      const [one, other] = [a.values.get(key), b.values.get(key)];
      const value = (one ?? other)?.value;
      const counts = { before: one?.count ?? 0, now: other?.count ?? 0 };
      // Of a value that a list lacks, the count that is possible and differs least.
      const possible = {
        before:
          one === undefined
            ? between(0, leastOf(a, listed), scaled(counts.now, totals.now, totals.before))
            : counts.before,
        now:
          other === undefined
            ? between(0, leastOf(b, listed), scaled(counts.before, totals.before, totals.now))
            : counts.now,
      };
      const { certain } = differenceOf(value, possible, totals);
      values.push({ ...differenceOf(value, counts, totals), certain });
    }
    const certain = values.filter((each) => each.certain > 0).sort(byDifference);
    if (certain.length > 0) differences.push({ field, score: certain[0]?.certain ?? 0, values: certain });
  }
  return differences.sort((x, y) => y.score - x.score || (x.field < y.field ? -1 : 1));
}

/** Of equal differences, as of the two values of a field that has only two, the value that became more frequent is first. */
function byDifference(a: ValueDifference, b: ValueDifference): number {
  const difference = b.certain - a.certain;
  return Math.abs(difference) > EQUAL ? difference : riseOf(b) - riseOf(a);
}

function riseOf({ beforeShare, nowShare }: ValueDifference): number {
  return nowShare - beforeShare;
}

/** Differences below are errors of rounding. */
const EQUAL = 1e-9;

const NONE: FieldCounts = { entries: 0, values: new Map() };

/** Returns the most entries that a value may have which a list of facets lacks. */
function leastOf({ values }: FieldCounts, listed: number): number {
  if (values.size < listed) return 0;
  return [...values.values()].reduce((least, { count }) => Math.min(least, count), Number.POSITIVE_INFINITY);
}

/** Returns the entries of one span that are the same share as those of the other. */
function scaled(count: number, total: number, wanted: number): number {
  return total === 0 ? 0 : (count / total) * wanted;
}

function between(least: number, most: number, value: number): number {
  return Math.max(least, Math.min(most, value));
}

interface Counts {
  before: number;
  now: number;
}

function differenceOf(value: Value, { before, now }: Counts, totals: Counts): ValueDifference {
  const [a, b] = [adjusted(before, totals.before), adjusted(now, totals.now)];
  const margin = DEVIATIONS * Math.sqrt(a.variance + b.variance);
  return {
    value,
    before,
    now,
    beforeShare: totals.before === 0 ? 0 : before / totals.before,
    nowShare: totals.now === 0 ? 0 : now / totals.now,
    certain: Math.max(0, Math.abs(b.share - a.share) - margin),
  };
}

/** A share and its variance, with one entry more on both sides, so that none and all of few entries are not certain (Agresti and Caffo, 2000). */
function adjusted(count: number, total: number): { share: number; variance: number } {
  const share = (Math.min(count, total) + 1) / (total + 2);
  return { share, variance: (share * (1 - share)) / (total + 2) };
}

function countsOf(table: Table): Map<string, FieldCounts> {
  const [field, entries, value, count] = columnPlaces(table, ["field", "entries", "value", "count"]);
  const fields = new Map<string, FieldCounts>();
  for (const row of table.rows) {
    const name = String(row[field]);
    const counts = fields.get(name) ?? { entries: Number(row[entries] ?? 0), values: new Map() };
    fields.set(name, counts);
    const found = row[value];
    // A field without values that can be counted has one row without a count.
    if (typeof row[count] !== "number" || !isValue(found)) continue;
    counts.values.set(`${typeof found} ${found}`, { value: found, count: row[count] });
  }
  return fields;
}

function isValue(value: unknown): value is Exclude<Value, undefined> {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** Returns the fields of a list of facets, several times each. */
export function fieldsIn(table: Table): { name: string; type: string }[] {
  const [field, type] = columnPlaces(table, ["field", "type"]);
  return table.rows.map((row) => ({ name: String(row[field]), type: String(row[type]) }));
}

/** Fields of numbers that are compared by their distribution. */
const NUMBERS = 8;
/** Different values from which a distribution says more than single values. */
const MANY = 12;

/** Returns the fields whose values are numbers of many sizes, the most frequent first. */
export function numberFields(facets: readonly Table[]): string[] {
  const fields = new Map<string, number>();
  for (const table of facets) {
    const [field, type, entries] = columnPlaces(table, ["field", "type", "entries"]);
    const values = new Map<string, number>();
    for (const row of table.rows) {
      if (row[type] !== "number") continue;
      const name = String(row[field]);
      const known = (values.get(name) ?? 0) + 1;
      values.set(name, known);
      if (known >= MANY) fields.set(name, Math.max(fields.get(name) ?? 0, Number(row[entries] ?? 0)));
    }
  }
  return [...fields]
    .sort(([, a], [, b]) => b - a)
    .slice(0, NUMBERS)
    .map(([name]) => name);
}
