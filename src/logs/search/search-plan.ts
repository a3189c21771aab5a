import { printField } from "../../query-language/fields.ts";
import { type Field, type Filter, joined, type Key, type Pipe, type Query } from "../../query-language/syntax.ts";
import { columnsAfter } from "../../query-language/table-columns.ts";
import { type Field as AggregateField, fieldOf, fieldOfPath } from "../aggregate/fields.ts";
import type { TableSort } from "../aggregate/order.ts";
import { type AggregatePlan, type GroupKey, planOf, takes } from "../aggregate/plan.ts";
import { MAX_ROWS } from "../aggregate/table.ts";

/** How a query of the query language is run. */

/** A query that can be parsed and not be run. The message is for its author. */
export class InvalidQuery extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidQuery";
  }
}

export type PipeOf<Kind extends Pipe["kind"]> = Extract<Pipe, { kind: Kind }>;
/** Pipes after which there are entries as before. */
export type EntryPipe = PipeOf<"where" | "sort" | "limit" | "context">;
/** The pipe that makes a table of entries. */
export type TableMaker = Exclude<Pipe, EntryPipe>;
export type CountingPipe = PipeOf<"count" | "stats" | "top" | "rare">;
/** Pipes of tables. */
export type TablePipe = Exclude<Pipe, PipeOf<"patterns" | "facets" | "context">>;

/** A query in the parts in which it is run. */
export interface SearchPlan {
  /** The filter with every `where` before the first other pipe that changes which entries there are. */
  filter: Filter;
  /** Order of the entries. */
  sort: PipeOf<"sort">;
  /** Pipes from the first `limit` or `context` on: they run on entries in memory. */
  entryPipes: readonly EntryPipe[];
  /** `null`: the answer has entries. */
  table: TableMaker | null;
  tablePipes: readonly TablePipe[];
}

const TIME: Field = { kind: "own", name: "time" };
export const NEWEST_FIRST: PipeOf<"sort"> = { kind: "sort", by: TIME, order: "desc" };

/** Keys and aggregations of one table of entries. */
const MAX_KEYS = 5;
const MAX_AGGREGATES = 20;
/** Columns of `fields`. */
const MAX_FIELDS = 100;
const TOP = 10;

/** @throws InvalidQuery */
export function planSearch({ filter, pipes }: Query): SearchPlan {
  const filters = [filter];
  let sort = NEWEST_FIRST;
  const entryPipes: EntryPipe[] = [];
  let at = 0;
  for (; at < pipes.length; at++) {
    const pipe = pipes[at];
    if (pipe === undefined || !isEntryPipe(pipe)) break;
    if (entryPipes.length > 0 || pipe.kind === "limit" || pipe.kind === "context") entryPipes.push(pipe);
    else if (pipe.kind === "where") filters.push(pipe.filter);
    else sort = pipe;
  }
  const [table = null, ...later] = pipes.slice(at);
  if (table !== null && isEntryPipe(table)) throw new RangeError("Entry pipes come first.");
  const tablePipes = later.map((pipe): TablePipe => {
    if (pipe.kind !== "patterns" && pipe.kind !== "facets" && pipe.kind !== "context") return pipe;
    throw new RangeError("The parser lets no pipe of entries follow a table.");
  });
  const wanted = filters.filter(({ kind }) => kind !== "all");
  const all = wanted.length === 0 ? { kind: "all" as const } : joined("and", wanted);
  const plan = { filter: all, sort, entryPipes, table, tablePipes };
  checkBounds(plan);
  return plan;
}

function isEntryPipe(pipe: Pipe): pipe is EntryPipe {
  return pipe.kind === "where" || pipe.kind === "sort" || pipe.kind === "limit" || pipe.kind === "context";
}

export function isByTime({ by }: PipeOf<"sort">): boolean {
  return by.kind === "own" && by.name === "time";
}

function checkBounds({ table, tablePipes }: SearchPlan): void {
  for (const pipe of table === null ? [] : [table, ...tablePipes]) {
    const keys = "by" in pipe && Array.isArray(pipe.by) ? pipe.by : [];
    if (keys.length > MAX_KEYS) throw new InvalidQuery(`A table has at most ${MAX_KEYS} keys.`);
    if (pipe.kind === "fields" && pipe.fields.length > MAX_FIELDS)
      throw new InvalidQuery(`A table has at most ${MAX_FIELDS} columns.`);
    if (pipe.kind !== "stats") continue;
    if (pipe.aggregates.length > MAX_AGGREGATES)
      throw new InvalidQuery(`A table has at most ${MAX_AGGREGATES} aggregations.`);
    const hasRate = pipe.aggregates.some(({ fn }) => fn === "rate");
    if (pipe !== table && hasRate && !keys.some((key: Key) => key.kind === "bin"))
      throw new InvalidQuery("`rate` of a table needs `bin(...)` among its keys.");
  }
}

/** A table of counts or aggregations: what is counted, and which rows are kept. */
export interface CountedTable {
  plan: AggregatePlan;
  sort: TableSort | null;
  limit: number;
  /** Whether the query asks for so many rows. */
  isTop: boolean;
  /** Pipes that are left after those which `sort` and `limit` contain. */
  tablePipes: readonly TablePipe[];
}

/**
 * Returns how a pipe counts entries. A `sort` and a `limit` after it choose among all groups, not only those that a table
 * holds.
 * @param seconds length of the time range; `null` if it is not bounded
 * @throws InvalidQuery
 */
export function countedTable(
  pipe: CountingPipe,
  tablePipes: readonly TablePipe[],
  seconds: number | null,
): CountedTable {
  const plan = aggregatePlan(pipe, seconds);
  if (pipe.kind === "top" || pipe.kind === "rare") {
    const sort: TableSort = { column: pipe.by.length, order: pipe.kind === "top" ? "desc" : "asc" };
    return { plan, sort, limit: pipe.limit ?? TOP, isTop: true, tablePipes };
  }
  const [first, second] = tablePipes;
  const sort = first?.kind === "sort" ? sortOf(plan, first) : null;
  const next = sort === null ? first : second;
  const isTop = next?.kind === "limit";
  const used = (sort === null ? 0 : 1) + (isTop ? 1 : 0);
  return { plan, sort, limit: isTop ? next.limit : MAX_ROWS, isTop, tablePipes: tablePipes.slice(used) };
}

function sortOf({ columns }: AggregatePlan, { by, order }: PipeOf<"sort">): TableSort | null {
  const column = by.kind === "column" ? columns.findIndex(({ name }) => name === by.name) : -1;
  return column < 0 ? null : { column, order };
}

function aggregatePlan(pipe: CountingPipe, seconds: number | null): AggregatePlan {
  const names = columnsAfter(pipe, null)?.map(({ name }) => name) ?? [];
  const keys = pipe.by.map((key, at): GroupKey => {
    const name = names[at] ?? "";
    return key.kind === "bin" ? { name, binMs: key.ms } : { name, field: aggregateField(key.field) };
  });
  const wanted = pipe.kind === "stats" ? pipe.aggregates : [{ fn: "count" as const, field: null }];
  const aggregations = wanted.map(({ fn, field: read }, at) => {
    const field = read === null ? null : aggregateField(read);
    const name = names[keys.length + at] ?? "";
    if (field !== null && !takes(fn, field))
      throw new InvalidQuery(`\`${fn}\` needs numbers, and \`${field.name}\` has none.`);
    if (fn === "rate" && field !== null) throw new InvalidQuery("`rate` counts entries: write `rate()`.");
    return { fn, field, name };
  });
  const plan = planOf(keys, aggregations, seconds);
  if (plan.columns.some(({ from }) => from === "rate") && !(plan.rateSeconds !== null && plan.rateSeconds > 0))
    throw new InvalidQuery("`rate` needs `bin(...)` among its keys, or a time range such as `time:1h`.");
  return plan;
}

/** Returns a field of entries as aggregations read it. */
export function aggregateField(field: Field): AggregateField {
  if (field.kind === "column") throw new RangeError("Entries have fields and no columns.");
  const name = printField(field);
  return field.kind === "own" ? fieldOf(field.name) : fieldOfPath(name, field.path);
}
