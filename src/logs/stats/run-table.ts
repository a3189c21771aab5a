import { Aggregator, TYPE_BITS } from "../aggregate/aggregator.ts";
import { MAX_GROUPS } from "../aggregate/groups.ts";
import type { TableSort } from "../aggregate/order.ts";
import type { AggregatePlan } from "../aggregate/plan.ts";
import { type Table, type TableBounds, type TableColumn, tableOf } from "../aggregate/table.ts";
import { QUERY_BUDGET, type QueryBudget, ScanPacer } from "../query/budget.ts";
import { encodeAsOf } from "../query/cursor.ts";
import type { LogFilter } from "../query/filter.ts";
import { type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import { boundedSource } from "../query/tiers.ts";
import { countMatching, type Read, type StatsSource } from "./count-entries.ts";
import { TableSink } from "./table-sink.ts";

/** A request for a table as the router runs it. */
export interface TableQuery {
  projectId: string | null;
  filter: LogFilter;
  plan: AggregatePlan;
  sort: TableSort | null;
  /** Rows, at most `MAX_ROWS`. */
  limit: number;
  /** Commit number of the snapshot; `null` for the newest one. */
  asOf: number | null;
  /** The time from which relative times of the filter count, epoch milliseconds; absent if there are none. */
  instant?: number;
}

/** The response of `POST /logger/stats` with `aggregations`, as `tableText` writes it. */
export interface TableAnswer {
  columns: TableColumn[];
  /** JSON of each row: bytes of UTF-8, one character each. */
  rows: string[];
  /** Entries that pass the filters, as far as they were counted. */
  matched: number;
  /** Entries whose lines or stored counts were examined. */
  scanned: number;
  /** `false` if a bound of work or memory ended the scan, so that older entries are missing. */
  complete: boolean;
  /** Whether all values are exact for the entries that were counted. */
  exact: boolean;
  asOf: string;
  notes: string[];
}

/** `hasLists`: a value of a field is an item of an array, so that an entry may be in several groups. */
export type TableResult =
  | { ok: true; answer: TableAnswer; work: number; hasLists: boolean }
  | { ok: false; reason: "future_snapshot" };

/** The resources of one request that reads entries into tables. */
export interface TableReading {
  source: StatsSource;
  budget: QueryBudget;
  memory: ReadMemory;
  pacer: ScanPacer;
}

/** Aggregates the entries of both tiers that pass a filter. */
export async function runTable(
  source: StatsSource,
  { filter, plan, sort, limit, asOf }: TableQuery,
  budget: QueryBudget = QUERY_BUDGET,
  memory: ReadMemory = UNBOUNDED_MEMORY,
): Promise<TableResult> {
  const reading = { source: boundedSource(source, memory), budget, memory, pacer: new ScanPacer() };
  const aggregator = new Aggregator(plan);
  const sink = new TableSink(aggregator, memory, reading.pacer);
  const read = await countMatching({ ...reading, sink }, filter, asOf);
  if (read.asOf > read.lastCommit) return { ok: false, reason: "future_snapshot" };
  const { columns, rows, exact, notes: ofTable } = await finishTable(reading, aggregator, { sort, limit });
  const notes = [...endNotes(read, sink), ...ofTable];
  return {
    ok: true,
    work: reading.pacer.meter.done,
    hasLists: aggregator.types.some((bits) => (bits & TYPE_BITS.array) !== 0),
    answer: {
      columns,
      rows,
      matched: sink.matched,
      scanned: sink.examined,
      complete: read.complete,
      exact,
      asOf: encodeAsOf(read.asOf),
      notes: [...notes, ...(filter.rest?.compared.notes(notes) ?? [])],
    },
  };
}

/** Makes the table of all entries that were added. */
export async function finishTable(
  { budget, memory, pacer }: Pick<TableReading, "budget" | "memory" | "pacer">,
  aggregator: Aggregator,
  bounds: Omit<TableBounds, "bytes">,
): Promise<Table> {
  const steps = tableOf(aggregator, { ...bounds, bytes: budget.answerBytes });
  let step = steps.next();
  for (; !step.done; step = steps.next()) {
    memory.renew();
    await pacer.pause(step.value);
  }
  return step.value;
}

/** Returns the note of a scan that ended early. */
export function endNotes({ complete }: Pick<Read, "complete">, { full }: Pick<TableSink, "full">): string[] {
  return complete ? [] : [ENDED[full ?? "work"]];
}

/** What a note states about a scan that ended early. */
const ENDED = {
  work: "The request reached its limit of work: older entries are not counted. Narrow the filters or the time range.",
  memory:
    "The request reached its limit of memory: older entries are not counted. Narrow the filters, or group by fewer values.",
  groups: `There are more than ${MAX_GROUPS.toLocaleString("en-US")} groups: older entries are not counted. Group by fewer values.`,
} as const;

/** Yields the JSON of an answer in parts: bytes of UTF-8, one character each. */
export function* tableText({ columns, rows, ...rest }: TableAnswer): Generator<string> {
  yield `{"kind":"table","columns":${toByteText(columns)},"rows":[`;
  for (const [index, row] of rows.entries()) yield index === 0 ? row : `,${row}`;
  yield `],${toByteText(rest).slice(1)}`;
}

function toByteText(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("latin1");
}
