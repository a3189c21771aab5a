import { nearest, SyntaxFault } from "./error.ts";
import { fieldOf, printField } from "./fields.ts";
import type { Aggregate, AggregateFunction, Field, Key, Pipe } from "./syntax.ts";

/** A column of a table that a pipe makes. `any`: its values may have any type. */
export interface TableColumn {
  name: string;
  type: "level" | "time" | "number" | "any";
}

/** Returns the name of a field in a table. */
function nameOf(field: Field): string {
  return field.kind === "column" ? field.name : printField(field);
}

function fieldColumn(field: Field, table: readonly TableColumn[] | null): TableColumn {
  const name = nameOf(field);
  if (table !== null) return table.find((column) => column.name === name) ?? { name, type: "any" };
  if (field.kind !== "own") return { name, type: "any" };
  return { name, type: name === "level" ? "level" : name === "time" || name === "received" ? "time" : "any" };
}

function keyColumn(key: Key, table: readonly TableColumn[] | null): TableColumn {
  return key.kind === "bin" ? { name: "time", type: "time" } : fieldColumn(key.field, table);
}

function aggregateColumn({ fn, field, as }: Aggregate): TableColumn {
  const type = OF_ANY_TYPE.has(fn) ? "any" : "number";
  return { name: as ?? `${fn}(${field === null ? "" : nameOf(field)})`, type };
}

/** Functions whose values are those of their field. */
const OF_ANY_TYPE: ReadonlySet<AggregateFunction> = new Set(["min", "max", "first", "last", "values"]);

function columns(type: TableColumn["type"], ...names: readonly string[]): TableColumn[] {
  return names.map((name) => ({ name, type }));
}

/**
 * Returns the columns after a pipe.
 * @param table columns before it; `null`: entries
 * @returns `null` if the pipe leaves entries
 */
export function columnsAfter(pipe: Pipe, table: readonly TableColumn[] | null): readonly TableColumn[] | null {
  switch (pipe.kind) {
    case "count":
    case "top":
    case "rare":
      return [...pipe.by.map((key) => keyColumn(key, table)), ...columns("number", "count")];
    case "stats":
      return [...pipe.by.map((key) => keyColumn(key, table)), ...pipe.aggregates.map(aggregateColumn)];
    case "patterns":
      return [
        ...columns("any", "pattern"),
        ...columns("number", "count", ...(pipe.versus === null ? [] : ["before", "change"])),
      ];
    case "facets":
      return [
        ...columns("any", "field", "type"),
        ...columns("number", "entries"),
        ...columns("any", "value"),
        ...columns("number", "count"),
      ];
    case "fields":
      return pipe.fields.map((field) => fieldColumn(field, table));
    default:
      return table;
  }
}

/** @throws SyntaxFault if the table has no such column */
export function columnNamed(
  written: string | readonly (string | number)[],
  table: readonly TableColumn[],
  at: number,
): string {
  const form = typeof written === "string" ? written : printField(fieldOf(written));
  // A column's own name comes first: `as "("` and the key `"("` are two columns.
  const candidates = typeof written !== "string" && written.length === 1 ? [String(written[0]), form] : [form];
  const names = table.map(({ name }) => name);
  const found = candidates.find((candidate) => names.includes(candidate));
  if (found !== undefined) return found;
  const known = names.map((each) => printField({ kind: "column", name: each }));
  throw new SyntaxFault(`The table has no column \`${form}\``, at, known, nearest(form, known));
}
