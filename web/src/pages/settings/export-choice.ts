import type { Range } from "../explorer/view/range.ts";
import { readView } from "../explorer/view/view.ts";

/** What is exported. */
export interface ExportChoice {
  format: "ndjson" | "parquet";
  range: Range;
}

/** Reads a choice from the parameters of an address. Without a valid time, everything is exported. */
export function readChoice({ format, range, from, to }: Readonly<Record<string, string>>): ExportChoice {
  const given = Object.entries({ range, from, to }).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const { view, invalidParameters } = readView(`?${new URLSearchParams(given)}`);
  const isValid = given.length > 0 && invalidParameters.length === 0;
  return { format: format === "parquet" ? "parquet" : "ndjson", range: isValid ? view.range : { kind: "all" } };
}

/** The parameters of the address of a choice. */
export function exportParameters({ format, range }: ExportChoice): URLSearchParams {
  const params = new URLSearchParams({ format });
  if (range.kind === "last") params.set("range", range.preset);
  if (range.kind === "between") {
    if (range.from !== null) params.set("from", range.from);
    if (range.to !== null) params.set("to", range.to);
  }
  return params;
}
