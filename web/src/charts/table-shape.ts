import type { ParseResult } from "../../../src/query-language/parse.ts";
import type { AggregateFunction, Pipe } from "../../../src/query-language/syntax.ts";
import { columnsAfter } from "../../../src/query-language/table-columns.ts";
import { axesOf } from "../pages/explorer/search/asked.ts";

/** How the table of a query is made. */
export interface Shape {
  /** Milliseconds of a span of time; `null` if the table is not over time. */
  binMs: number | null;
  /** Names of the columns that group, which are not drawn as values. */
  keys: readonly string[];
  /** Functions of the columns with values. */
  functions: ReadonlyMap<string, AggregateFunction>;
  /** Name of the column whose row `null` counts all groups that have no row; `null` without such a column. */
  others: string | null;
}

export function shapeOf(parsed: ParseResult): Shape {
  if (!parsed.ok) return { binMs: null, keys: [], functions: new Map(), others: null };
  const { pipes } = parsed.query;
  const functions = new Map(pipes.flatMap(functionsOf));
  const others = pipes.some(({ kind }) => kind === "patterns") ? "pattern" : null;
  const axes = axesOf(parsed);
  if (axes !== null) return { ...axes, functions, others };
  const grouped = pipes.flatMap((pipe) => ("by" in pipe && Array.isArray(pipe.by) ? [pipe.by.length] : []));
  const keys = parsed.columns?.slice(0, grouped.at(-1) ?? 0).map(({ name }) => name) ?? [];
  return { binMs: null, keys, functions, others };
}

/** Columns of a later pipe replace those of the same name. */
function functionsOf(pipe: Pipe): [name: string, fn: AggregateFunction][] {
  if (pipe.kind === "count" || pipe.kind === "top" || pipe.kind === "rare" || pipe.kind === "patterns")
    return [["count", "count"]];
  if (pipe.kind !== "stats") return [];
  const columns = columnsAfter({ ...pipe, by: [] }, null) ?? [];
  return pipe.aggregates.map(({ fn }, at) => [columns[at]?.name ?? "", fn]);
}

/** Whether the values of groups can be added. */
export function isAdded({ functions }: Shape, column: string): boolean {
  const fn = functions.get(column);
  return fn === "count" || fn === "sum" || fn === "rate";
}

/** Whether the values of groups and of spans of time can be added. */
export function isAddedOverTime({ functions }: Shape, column: string): boolean {
  const fn = functions.get(column);
  return fn === "count" || fn === "sum";
}

/** Returns the name of the group without a value in a column: of the entries without the field, or of all groups that have no row. */
export function nullName({ others }: Shape, column: string): string {
  return column === others ? "All other patterns" : `no ${column}`;
}

/** Returns what stands for a missing value in a column that groups; `null` in a column of values. */
export function groupWithout(shape: Shape, column: string): string | null {
  return column === shape.others || (column !== "time" && shape.keys.includes(column)) ? nullName(shape, column) : null;
}
