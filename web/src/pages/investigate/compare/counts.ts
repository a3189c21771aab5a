import type { Table } from "../../../charts/chart-data.ts";
import { LEVELS, type Level } from "../../../model/types.ts";
import type { Bins } from "../bins.ts";
import { columnPlaces } from "../column-places.ts";

/** The entries of a span over time and by level. */
export interface Counts {
  bins: Bins;
  /** Entries of each span of time. */
  values: number[];
  levels: ReadonlyMap<Level, number>;
  total: number;
}

/** Reads the table of `count by level, bin(...)`. */
export function countsOf(table: Table, bins: Bins): Counts {
  const [time, level, count] = columnPlaces(table, ["time", "level", "count"]);
  const values = Array<number>(bins.spans).fill(0);
  const levels = new Map<Level, number>();
  let total = 0;
  for (const row of table.rows) {
    const found = row[count];
    const entries = typeof found === "number" ? found : 0;
    const span = Math.floor((Date.parse(String(row[time])) - bins.start) / bins.binMs);
    if (span >= 0 && span < bins.spans) values[span] = (values[span] ?? 0) + entries;
    const name = LEVELS.find((each) => each === row[level]);
    if (name !== undefined) levels.set(name, (levels.get(name) ?? 0) + entries);
    total += entries;
  }
  return { bins, values, levels, total };
}
