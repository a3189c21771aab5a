import { Aggregator } from "../aggregate/aggregator.ts";
import { EntryAggregator } from "../aggregate/entry-aggregator.ts";
import { MAX_GROUPS } from "../aggregate/groups.ts";
import type { TableSort } from "../aggregate/order.ts";
import type { AggregatePlan } from "../aggregate/plan.ts";
import { type Table, type TableBounds, type TableColumn, tableOf } from "../aggregate/table.ts";
import type { BatchMatcher, LineMatch } from "../query/batch-matcher.ts";
import { QUERY_BUDGET, type QueryBudget, ScanPacer } from "../query/budget.ts";
import { encodeAsOf } from "../query/cursor.ts";
import type { LineSource } from "../query/feed.ts";
import type { LogFilter } from "../query/filter.ts";
import { boundedSource, type ReadMemory, UNBOUNDED_MEMORY } from "../query/memory.ts";
import { ColumnAggregator } from "../segments/scan/column-aggregator.ts";
import { countMatching, type Read, type StatsSource } from "./count-entries.ts";
import type { Counted, CountSink, RowSink } from "./count-feed.ts";

/** Bytes that the states of one table may hold. A table that needs more ends its scan. */
const MAX_STATE_BYTES = 16 * 1024 * 1024;

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

export type TableResult = { ok: true; answer: TableAnswer; work: number } | { ok: false; reason: "future_snapshot" };

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
  const { columns, rows, exact, notes } = await finishTable(reading, aggregator, { sort, limit });
  return {
    ok: true,
    work: reading.pacer.meter.done,
    answer: {
      columns,
      rows,
      matched: sink.matched,
      scanned: sink.examined,
      complete: read.complete,
      exact,
      asOf: encodeAsOf(read.asOf),
      notes: [...endNotes(read, sink), ...notes],
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

/** Adds entries to an aggregator until a bound is reached. */
export class TableSink implements CountSink {
  readonly takesCounts: boolean;
  readonly needsLevelsAlone: boolean;
  matched = 0;
  examined = 0;
  readonly rows: RowSink;
  /** Bound that was reached; `null` if none was. */
  full: "groups" | "memory" | null = null;
  readonly #aggregator: Aggregator;
  readonly #entries: EntryAggregator;
  readonly #memory: ReadMemory;
  readonly #held: number;
  #granted: number;

  /** @param held bytes of other states of the request */
  constructor(aggregator: Aggregator, memory: ReadMemory, { meter }: ScanPacer, held = 0) {
    const { plan } = aggregator;
    const columns = new ColumnAggregator(aggregator, meter);
    this.rows = {
      columnsOf: (reader, group) => columns.columnsOf(reader, group),
      add: (reader, group, rows, chunk) => this.#addRows(columns.add(reader, group, rows, chunk)),
    };
    this.#aggregator = aggregator;
    this.#entries = new EntryAggregator(aggregator, meter);
    this.#memory = memory;
    this.#held = held;
    this.#granted = held;
    this.takesCounts = EntryAggregator.takesCounts(plan);
    this.needsLevelsAlone = plan.keys.every((key) => "binMs" in key || plan.fields[key.field]?.own === "level");
  }

  get isFull(): boolean {
    return this.full !== null;
  }

  add(timestamp: number, counted: Counted, count: number): void {
    if (this.full !== null) return;
    const added = this.#entries.addCounted(timestamp, counted, count);
    if (added === "full") this.full = "groups";
    else this.#counted(count);
  }

  addLevel(timestamp: number, level: number, count: number): void {
    this.add(timestamp, { level, category: "", type: "" }, count);
  }

  addLine(match: LineMatch, lines: LineSource, matcher: BatchMatcher): boolean {
    if (this.full !== null) return true;
    // Names at the beginning of a line are read without the rest of it.
    if (!matcher.reads && this.#entries.readsNamesAlone && !matcher.isEntry(match)) return false;
    const added = this.#entries.add(match, lines);
    if (added === "full") this.full = "groups";
    else if (added === "added") this.#counted(1);
    return added !== "damaged";
  }

  scanned(count: number): void {
    this.examined += count;
  }

  *#addRows(steps: ReturnType<ColumnAggregator["add"]>): Generator<void, Int32Array> {
    const { added, left, isFull } = yield* steps;
    if (isFull) this.full = "groups";
    this.#counted(added);
    return left;
  }

  #counted(count: number): void {
    this.matched += count;
    const bytes = this.#held + this.#aggregator.held.bytes;
    if (bytes <= this.#granted) return;
    this.#granted = bytes;
    if (bytes <= MAX_STATE_BYTES && this.#memory.canHoldRows(bytes)) return;
    if (this.#aggregator.plan.maxValues === undefined) this.full = "memory";
    else for (const key of this.#aggregator.groups.keys) key.close();
  }
}

/** Yields the JSON of an answer in parts: bytes of UTF-8, one character each. */
export function* tableText({ columns, rows, ...rest }: TableAnswer): Generator<string> {
  yield `{"kind":"table","columns":${toByteText(columns)},"rows":[`;
  for (const [index, row] of rows.entries()) yield index === 0 ? row : `,${row}`;
  yield `],${toByteText(rest).slice(1)}`;
}

function toByteText(value: unknown): string {
  return Buffer.from(JSON.stringify(value), "utf8").toString("latin1");
}
