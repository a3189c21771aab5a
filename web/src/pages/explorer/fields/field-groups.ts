import type { FieldFacts, Fields } from "./field-facts.ts";

export interface FieldGroup {
  title: string;
  fields: readonly FieldFacts[];
}

/** Own fields that come first. */
const PINNED: readonly string[] = ["level", "service", "host", "category", "type"];

/** Groups fields: own ones, those that tell entries apart, and those that have one value. Those that match `wanted` in their names. A field whose values are not listed is one that varies. */
export function fieldGroups({ fields, matched }: Fields, wanted: string): FieldGroup[] {
  const word = wanted.trim().toLowerCase();
  const shown = fields.filter(({ name }) => name.toLowerCase().includes(word));
  const pinned = PINNED.flatMap((name) => shown.filter((field) => field.name === name && field.values.length > 0));
  const others = shown.filter((field) => !pinned.includes(field));
  const varies = (field: FieldFacts): boolean => field.values.length !== 1 || field.entries < matched;
  const byUse = (a: FieldFacts, b: FieldFacts): number => rank(a) - rank(b) || b.entries - a.entries;
  return [
    { title: "Entry", fields: pinned },
    { title: "Fields that vary", fields: others.filter(varies).sort(byUse) },
    { title: "One value", fields: others.filter((field) => !varies(field)) },
  ].filter((group) => group.fields.length > 0);
}

/** Says why the values of a field are not listed; `null` if they are. */
export function whyUnlisted({ type, values }: FieldFacts): string | null {
  if (values.length > 0) return null;
  if (type === "null") return "Always null or empty";
  return type === "string" ? "Texts too long to count" : "Values too long to count";
}

/** Fields in which nearly each entry has another value come last, with those without a list: they identify and do not group. */
function rank({ values, entries, type }: FieldFacts): number {
  if (values.length === 0) return 1;
  const most = values[0]?.count ?? 0;
  return type !== "number" && values.length > 2 && most <= 1 && entries > 2 ? 1 : 0;
}

/** Spans of time of a chart: a name as queries write it, and milliseconds. */
const BINS = [
  ["1s", 1000],
  ["5s", 5000],
  ["10s", 10_000],
  ["1m", 60_000],
  ["5m", 300_000],
  ["15m", 900_000],
  ["1h", 3_600_000],
  ["3h", 10_800_000],
  ["6h", 21_600_000],
  ["1d", 86_400_000],
  ["7d", 604_800_000],
] as const;
/** Spans that a chart has at most, and one that is as wide as the page. */
const MOST_BINS = 120;
export const MOST_WIDE_BINS = 300;

/**
 * Returns pipes that draw a field over a time: numbers by their percentiles, other values by their counts.
 * @param most spans of the drawing
 */
export function chartPipes(
  field: string,
  type: string,
  { start, end }: { start: number; end: number },
  most = MOST_BINS,
): string {
  const [bin] = BINS.find(([, ms]) => (end - start) / ms <= most) ?? ["30d"];
  if (type === "number") return `| stats p50(${field}), p95(${field}), max(${field}) by bin(${bin})`;
  return `| count by ${field}, bin(${bin})`;
}
