import { usage } from "./failure.ts";
import { countOf, list, text, type Values } from "./values.ts";

/** Aggregations of `stats`, as the service takes them. */
export interface TableRequest {
  aggregations: readonly { fn: string; field?: string; as?: string }[];
  groupBy: readonly (string | { bin: string })[];
  sort?: { by: string; order: "asc" | "desc" };
  limit?: number;
}

/** Options of `stats` that need `--agg`. */
const TABLE_OPTIONS = ["bin", "sort", "order", "limit"] as const;
const AGGREGATION = /^([a-z][a-z_0-9]*)(?:\((.*)\))?(?: as (.+))?$/;

/** Parses the options for a table; `null` if there is no `--agg`. @throws Failure */
export function tableOf(values: Values): TableRequest | null {
  const written = list(values, "agg");
  const first = TABLE_OPTIONS.find((name) => values[name] !== undefined);
  if (written.length === 0 && first !== undefined) throw usage(`--${first} needs --agg. See taffrail stats --help.`);
  if (written.length === 0) return null;
  if (text(values, "interval") !== null) throw usage("--interval and --agg exclude each other. Use --bin 5m.");
  const [by, bin, limit] = [text(values, "by"), text(values, "bin"), countOf("--limit", text(values, "limit"))];
  const sort = sortOf(values);
  return {
    aggregations: written.map(aggregationOf),
    groupBy: [...(by === null ? [] : by.split(",")), ...(bin === null ? [] : [{ bin }])],
    ...(sort === null ? {} : { sort }),
    ...(limit === null ? {} : { limit }),
  };
}

function aggregationOf(written: string): TableRequest["aggregations"][number] {
  const [, fn, field = "", as] = AGGREGATION.exec(written.trim()) ?? [];
  if (fn === undefined)
    throw usage(`--agg ${written}: must be like count, "p99(durationMs)" or "sum(bytes) as total".`);
  return { fn, ...(field === "" ? {} : { field }), ...(as === undefined ? {} : { as }) };
}

function sortOf(values: Values): NonNullable<TableRequest["sort"]> | null {
  const by = text(values, "sort");
  const order = text(values, "order") ?? "desc";
  if (order !== "desc" && order !== "asc") throw usage(`--order ${order}: must be desc or asc.`);
  if (by !== null) return { by, order };
  if (text(values, "order") !== null) throw usage("--order needs --sort.");
  return null;
}
