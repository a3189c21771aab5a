import type { Table } from "../../charts/chart-data.ts";

/** Returns the places of columns by their names; -1 for a column that the table lacks. */
export function columnPlaces<const Names extends readonly string[]>(
  { columns }: Pick<Table, "columns">,
  names: Names,
): { [At in keyof Names]: number } {
  // SAFETY: one place for each name, in their order.
  return names.map((wanted) => columns.findIndex(({ name }) => name === wanted)) as { [At in keyof Names]: number };
}
