import { printField } from "../../../src/query-language/fields.ts";
import type { ParseResult } from "../../../src/query-language/parse.ts";
import type { AggregateFunction, Field, Pipe } from "../../../src/query-language/syntax.ts";
import { columnsAfter } from "../../../src/query-language/table-columns.ts";

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

/** How the table of a query over spans of time is drawn. */
export interface Axes {
  /** Milliseconds of a span. */
  binMs: number;
  /** Names of the columns that group, which are not drawn as values. */
  keys: readonly string[];
}

/** Returns how the table of a query is drawn; `null` if it has no spans of time. */
export function axesOf(result: ParseResult): Axes | null {
  if (!result.ok) return null;
  let binMs: number | null = null;
  let keys: string[] = [];
  for (const pipe of result.query.pipes) {
    if (!("by" in pipe && Array.isArray(pipe.by))) continue;
    const bin = pipe.by.find(({ kind }) => kind === "bin");
    // A table of a table has its own keys, and the spans of the first.
    if (bin?.kind === "bin") binMs = bin.ms;
    keys = pipe.by.map((key) => (key.kind === "field" ? nameOf(key.field) : "time"));
  }
  return binMs === null ? null : { binMs, keys };
}

function nameOf(field: Field): string {
  return field.kind === "column" ? field.name : printField(field);
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
