import type { Filter, Scalar, TimeValue, ValueTest } from "../../query-language/syntax.ts";
import { printDuration } from "../../query-language/values.ts";
import { Aggregator } from "../aggregate/aggregator.ts";
import { fieldOf } from "../aggregate/fields.ts";
import { type Aggregation, orderedText, planOf } from "../aggregate/plan.ts";
import { sortInSteps } from "../aggregate/sorting.ts";
import { MAX_ROWS } from "../aggregate/table.ts";
import { compareTexts } from "../aggregate/values.ts";
import { OPEN_FILTER } from "../query/filter.ts";
import { runQuery } from "../query/run-query.ts";
import type { Read } from "../stats/count-entries.ts";
import { TableSink } from "../stats/table-sink.ts";
import { compileFilter } from "./compile-filter.ts";
import { type Counter, countInto, type MadeTable } from "./counter.ts";
import { SharedMemory } from "./entry-rows.ts";
import { type PipeOf, planSearch, type TablePipe } from "./search-plan.ts";
import type { SearchRun } from "./search-query.ts";

/** Patterns of messages with their counts. The counts of all rows add up to the number of entries. */

/** Patterns that one request counts apart. Entries of further ones count as one row. */
const MAX_PATTERNS = 20_000;

/** The pattern of the entries whose patterns have no row. */
const REST = "null";

/** Work units of comparing two patterns, and of writing a row. */
const PATTERN_WORK = 400;
const ROW_WORK = 500;

interface Counts {
  /** JSON of the pattern: bytes of UTF-8, one character each. */
  text: string;
  count: number;
  before: number;
  /** The group that describes it: of the period, or of the one before if the period has none. */
  group: { of: Aggregator; number: number } | null;
}

/** Columns that describe a pattern; see `describesPatterns`. */
const DESCRIBING: readonly Aggregation[] = [
  { fn: "min", field: fieldOf("time"), name: "first" },
  { fn: "max", field: fieldOf("time"), name: "last" },
  { fn: "last", field: fieldOf("message"), name: "example" },
];

/** Characters of an example. */
const EXAMPLE_CHARACTERS = 200;

function newAggregator(describes: boolean): Aggregator {
  const key = { name: "pattern", field: fieldOf("pattern") };
  const count = { fn: "count", field: null, name: "count" } as const;
  const plan = planOf([key], describes ? [count, ...DESCRIBING] : [count], null);
  return new Aggregator({ ...plan, maxValues: MAX_PATTERNS, edgeCharacters: EXAMPLE_CHARACTERS });
}

/** Counts entries by pattern; with `versus` also those of the period so long before. */
export function patternCounter(search: SearchRun, pipe: PipeOf<"patterns">, tablePipes: readonly TablePipe[]): Counter {
  const { memory, pacer } = search.reading;
  const { describesPatterns = false } = search.wanted;
  const [now, earlier] = [newAggregator(describesPatterns), newAggregator(describesPatterns)];
  const sink = new TableSink(now, memory, pacer);
  const { versus } = pipe;
  const missing: string[] = [];
  const scan = async () => {
    if (versus === null) return countInto(search, search.filter, sink);
    const periods = periodsOf(search, versus);
    const read = await countInto(search, periods.now, sink);
    if (read === null) return null;
    const before = new TableSink(earlier, memory, pacer, now.held.bytes);
    const second = await countInto(search, periods.before, before, read.asOf);
    sink.examined += before.examined;
    if (second !== null) missing.push(...(await missingNotes(search, periods.before, second, now, earlier)));
    return second && { ...read, complete: read.complete && second.complete };
  };
  const made = async () => {
    const table = await finish(search, pipe, now, earlier);
    return { ...table, notes: [...missing, ...table.notes, ...untested(pipe, table, tablePipes)] };
  };
  return { sink, scan, finish: made, tablePipes };
}

/** Returns a note if a later `where` tests only the patterns that the number leaves. */
function untested(
  { limit, versus }: PipeOf<"patterns">,
  { rows }: MadeTable,
  tablePipes: readonly TablePipe[],
): string[] {
  // The row of all others is one more.
  if (limit === null || rows.length <= limit || !tablePipes.some(({ kind }) => kind === "where")) return [];
  const all = versus === null ? "patterns" : `patterns vs ${printDuration(versus)}`;
  return [`\`where\` tests only these ${limit}. All are tested by \`${all} | where ... | limit ${limit}\`.`];
}

/** Share of a budget that finding the first entry may take. */
const FIRST_WORK = 0.1;

/** Returns a note if a part of the earlier span is before all entries that there are: patterns look new that may not be. */
async function missingNotes(
  { reading, wanted }: SearchRun,
  { from, to }: Period,
  { oldest, asOf }: Read,
  ...counted: Aggregator[]
): Promise<string[]> {
  if (from === null) return [];
  const isoTime = (time: number) => new Date(time).toISOString();
  const noteOf = (first: number, cause: string) =>
    first >= to
      ? `The earlier range has no entries to compare with: ${cause}.`
      : `The earlier range lacks entries: ${cause}. Patterns may look new that are not.`;
  if (from < oldest) return [noteOf(oldest, `entries before ${isoTime(oldest)} are no longer kept`)];
  const { source, budget, pacer } = reading;
  const memory = new SharedMemory(
    reading.memory,
    counted.reduce((sum, { held }) => sum + held.bytes, 0),
  );
  const all = { projectId: wanted.projectId, filter: OPEN_FILTER, order: "asc", offset: 0, cursor: null } as const;
  const bounds = { ...budget, work: budget.work * FIRST_WORK };
  const read = await runQuery(source, { ...all, limit: 1, includeTotal: false, asOf }, () => 0, bounds, memory);
  if (!read.ok) return [];
  pacer.meter.add(read.work);
  const [first] = read.page.rows;
  if (first === undefined || first.timestamp <= from) return [];
  return [noteOf(first.timestamp, `the first entry is of ${isoTime(first.timestamp)}`)];
}

/** A filter of a period. */
interface Period {
  /** Epoch milliseconds: `from <= timestamp < to`. */
  from: number | null;
  to: number;
}

/** Returns the filters of both periods. Without a time, the last period is compared with the one before it. */
function periodsOf({ wanted, filter, compared }: SearchRun, versus: number) {
  const { now } = wanted;
  const isBounded = filter.from !== null || filter.to !== null;
  const current = isBounded ? filter : { ...filter, from: now - versus };
  const earlier = compileFilter(shifted(planSearch(wanted.query).filter, versus), now, compared);
  const to = (filter.to ?? now) - versus;
  const from = current.from === null ? null : current.from - versus;
  return { now: current, before: { ...earlier, from: largest(earlier.from, from), to: smallest(earlier.to, to) } };
}

function largest(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

function smallest(a: number | null, b: number): number {
  return a === null ? b : Math.min(a, b);
}

/** Returns a filter that an entry passes if it would pass the given one so many milliseconds later. */
function shifted(filter: Filter, by: number): Filter {
  switch (filter.kind) {
    case "field":
      return { ...filter, test: shiftedTest(filter.test, by) };
    case "not":
      return { kind: "not", filter: shifted(filter.filter, by) };
    case "and":
    case "or":
      return { kind: filter.kind, filters: filter.filters.map((each) => shifted(each, by)) };
    default:
      return filter;
  }
}

function shiftedTest(test: ValueTest, by: number): ValueTest {
  switch (test.kind) {
    case "during":
      return { ...test, time: shiftedTime(test.time, by) };
    case "compare":
      return { ...test, value: shiftedScalar(test.value, by) };
    case "range":
      return { ...test, from: shiftedScalar(test.from, by), to: shiftedScalar(test.to, by) };
    case "anyOf":
      return { ...test, tests: test.tests.map((each) => shiftedTest(each, by)) };
    default:
      return test;
  }
}

function shiftedScalar(scalar: Scalar, by: number): Scalar {
  return scalar.kind === "time" ? { ...scalar, time: shiftedTime(scalar.time, by) } : scalar;
}

function shiftedTime(time: TimeValue, by: number): TimeValue {
  if (time.kind === "ago") return { ...time, ms: time.ms + by };
  return { ...time, from: time.from - by, to: time.to - by };
}

async function finish(
  { reading, wanted }: SearchRun,
  { limit, versus }: PipeOf<"patterns">,
  now: Aggregator,
  earlier: Aggregator,
): Promise<MadeTable> {
  const { memory, pacer, budget } = reading;
  const pause = (work: number) => {
    memory.renew();
    return pacer.pause(work);
  };
  const describes = wanted.describesPatterns === true;
  const rest: Counts = { text: REST, count: 0, before: 0, group: null };
  const byText = new Map<string, Counts>([[REST, rest]]);
  for (const [aggregator, member] of [
    [now, "count"],
    [earlier, "before"],
  ] as const) {
    const { groups, entries } = aggregator;
    for (let group = 0; group < groups.count; group++) {
      const text = groups.textAt(group, 0);
      const counts = byText.get(text) ?? { text, count: 0, before: 0, group: { of: aggregator, number: group } };
      counts[member] += entries.get(group);
      byText.set(text, counts);
      await pause(PATTERN_WORK);
    }
  }
  byText.delete(REST);
  const patterns = [...byText.values()];
  const places = Int32Array.from(patterns, (_, at) => at);
  const size = ({ count, before }: Counts) => (versus === null ? count : Math.abs(count - before));
  const compare = (a: Counts, b: Counts) => size(b) - size(a) || b.count - a.count || compareTexts(a.text, b.text);
  for (const work of sortInSteps(places, (a, b) => compare(patterns[a] ?? rest, patterns[b] ?? rest)))
    await pause(work);
  const isCut = now.groups.keys[0]?.isCut === true || earlier.groups.keys[0]?.isCut === true;
  // One row is left for the rest.
  const most = Math.min(limit ?? MAX_ROWS, MAX_ROWS - 1);
  const rows: string[] = [];
  let bytes = 0;
  for (const place of places) {
    const counts = patterns[place] ?? rest;
    const row = rowOf(counts, versus, describes);
    bytes += row.length;
    if (rows.length < most && bytes <= budget.answerBytes) rows.push(row);
    else {
      rest.count += counts.count;
      rest.before += counts.before;
      bytes = budget.answerBytes;
    }
    await pause(ROW_WORK);
  }
  const notes: string[] = [];
  const hasRest = rest.count + rest.before > 0;
  if (hasRest) {
    const shown = `The ${rows.length.toLocaleString("en-US")} patterns shown`;
    rows.push(rowOf(rest, versus, describes));
    notes.push(`${shown} are not all: the last row, without a pattern, counts the entries of all others.`);
  }
  if (isCut) {
    const bound = `More than ${MAX_PATTERNS.toLocaleString("en-US")} patterns, or more than memory holds`;
    notes.push(`${bound}: patterns of older entries may be missing, and count in the last row.`);
  }
  const added = versus === null ? [] : ["before", "change"];
  const describing = describes
    ? DESCRIBING.map(({ name, fn }) => ({ name, type: fn === "last" ? "string" : "time" }) as const)
    : [];
  const columns = [
    { name: "pattern", type: "string" as const },
    ...["count", ...added].map(numberColumn),
    ...describing,
  ];
  return { columns, rows, exact: !isCut, isCut: hasRest && limit === null, notes, levels: [] };
}

function numberColumn(name: string) {
  return { name, type: "number" as const };
}

function rowOf({ text, count, before, group }: Counts, versus: number | null, describes: boolean): string {
  const counts = versus === null ? [count] : [count, before, count - before];
  return `[${[text, ...counts, ...(describes ? describingTexts(group) : [])].join(",")}]`;
}

/** Returns the JSON of the columns that describe a pattern. */
function describingTexts(group: Counts["group"]): string[] {
  if (group === null) return DESCRIBING.map(() => "null");
  const { of, number } = group;
  return of.measures.flatMap(({ kind, state }) => {
    if (kind === "extremes") return [state.least(number), state.greatest(number)].map(timeText);
    return kind === "last" ? [state.textOf(number) ?? "null"] : [];
  });
}

function timeText(time: number | null): string {
  return time === null ? "null" : orderedText("time", time);
}
