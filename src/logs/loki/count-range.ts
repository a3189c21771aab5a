import { selectorTest } from "../../logql/pipeline.ts";
import type { Grouping, Matcher, RangeAggregation } from "../../logql/syntax.ts";
import type { RangeWindows, Steps } from "../../logql/windows.ts";
import { fieldOf } from "../aggregate/fields.ts";
import { type GroupKey, planOf } from "../aggregate/plan.ts";
import { MAX_ROWS } from "../aggregate/table.ts";
import { compileFilter } from "../search/compile-filter.ts";
import { runTable } from "../stats/run-table.ts";
import type { LokiReading } from "./reading.ts";
import { QueryRegexes } from "./regexes.ts";
import { EXACT_LABELS, selectorFilter } from "./selector-filter.ts";

/** Labels of which a client of Loki may have sent another value, unless the own member has one. */
const OPTIONAL: ReadonlySet<string> = new Set(["service", "host"]);

/**
 * Counts the entries of a range by stored counts and columns, without reading lines.
 * @param checkMemory called after each row; throws if the series are too large
 * @param used labels that the result has; `null`: all
 * @returns the number of rows that were added; `null` if lines decide, and nothing was added
 */
export async function countRange(
  reading: LokiReading,
  range: RangeAggregation,
  used: Grouping | null,
  steps: Steps,
  windows: RangeWindows,
  checkMemory: () => void,
): Promise<number | null> {
  const { matchers, stages } = range.logs;
  const isCount = range.fn === "count_over_time" || range.fn === "rate";
  if (!isCount || range.unwrap !== null || stages.length > 0 || used === null || used.isWithout) return null;
  const named = [...new Set([...matchers.map(({ name }) => name), ...used.labels])];
  if (!matchers.every(isDecided) || !named.every((name) => isColumn(name, matchers))) return null;
  const { source, budget, memory, pacer } = reading;
  const keys: GroupKey[] = named.map((name) => ({ name, field: fieldOf(name) }));
  const { from, to } = windows.span;
  if (![from, to, steps.step].every(Number.isInteger)) return null;
  const bin = steps.count > 1 ? binOf(steps, range.range / 1e6, to) : null;
  if (bin !== null) keys.push({ name: "time", ...bin });
  const plan = planOf(keys, [{ fn: "count", field: null, name: "count" }], null);
  const left = { ...budget, work: Math.max(1, budget.work - pacer.meter.done) };
  const filter = { ...compileFilter(selectorFilter(matchers), 0), from, to };
  const wanted = { projectId: null, filter, plan, sort: null, limit: MAX_ROWS, asOf: null };
  const result = await runTable(source, wanted, left, memory);
  if (!result.ok) return null;
  pacer.meter.add(result.work);
  const { complete, matched, rows } = result.answer;
  // A list is no label, and counts in the groups of its items.
  if (!complete || result.hasLists) return null;
  const passes = selectorTest(matchers, new QueryRegexes(pacer.meter).compile);
  const counted = rows.map((row) => rowOf(row, named));
  // Rows are missing, or a value is no text.
  const total = counted.reduce((sum, row) => sum + (row?.count ?? Number.NaN), 0);
  if (total !== matched) return null;
  let added = 0;
  for (const row of counted) {
    if (row === null || row.count === 0 || !passes(row.labels)) continue;
    const shown = new Map([...row.labels].filter(([name]) => used.labels.includes(name)));
    windows.addCount(shown, bin === null ? to - 1 : row.time + bin.binMs - 1, row.count);
    checkMemory();
    added++;
  }
  return added;
}

interface CountedRow {
  labels: Map<string, string>;
  /** Start of the bin, epoch milliseconds; NaN without bins. */
  time: number;
  count: number;
}

/** Reads a row: the labels, the bin if there is one, and the count. @returns `null` if a label has no text */
function rowOf(row: string, named: readonly string[]): CountedRow | null {
  const values: unknown[] = JSON.parse(Buffer.from(row, "latin1").toString("utf8"));
  const labels = new Map<string, string>();
  for (const [at, name] of named.entries()) {
    const value = values[at];
    if (value === null || value === undefined || value === "" || typeof value === "object") return null;
    labels.set(name, String(value));
  }
  return { labels, time: Date.parse(String(values[named.length])), count: Number(values.at(-1)) };
}

/** Whether the filter of a matcher decides on all entries but for the case of letters. */
function isDecided({ name, operator, value }: Matcher): boolean {
  if (OPTIONAL.has(name)) return operator === "=" && value !== "";
  if (operator === "=") return value !== "";
  return operator === "!=" || name !== "project";
}

function isColumn(name: string, matchers: readonly Matcher[]): boolean {
  return EXACT_LABELS.has(name) || (OPTIONAL.has(name) && matchers.some((matcher) => matcher.name === name));
}

/** Returns the longest spans of time that lie within each window or outside it. @param end the end of the last one */
function binOf({ step }: Steps, range: number, end: number): { binMs: number; offsetMs: number } {
  const binMs = divisorOf(step, range);
  return { binMs, offsetMs: ((end % binMs) + binMs) % binMs };
}

/** Returns the greatest common divisor of whole numbers above 0. */
function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}
