import type { Table } from "../aggregate/table.ts";
import type { LogFilter } from "../query/filter.ts";
import { boundedSource } from "../query/tiers.ts";
import { countMatching, type Read } from "../stats/count-entries.ts";
import type { CountSink } from "../stats/count-feed.ts";
import type { TableSink } from "../stats/table-sink.ts";
import type { TablePipe } from "./search-plan.ts";
import type { SearchRun } from "./search-query.ts";

/** A table as the first pipe makes it. */
export interface MadeTable extends Table {
  /** By column: whether its values are levels. */
  levels: readonly boolean[];
}

/** Counts entries for a pipe that makes a table. */
export interface Counter {
  sink: CountSink & Pick<TableSink, "matched" | "examined" | "full">;
  /** Counts the entries of both tiers. @returns `null` if the snapshot is in the future */
  scan(): Promise<Read | null>;
  finish(): Promise<MadeTable>;
  /** Pipes that the table does not contain. */
  tablePipes: readonly TablePipe[];
}

/** Counts the entries of both tiers that pass a filter. @returns `null` if the snapshot is in the future */
export async function countInto(
  { reading, wanted }: SearchRun,
  filter: LogFilter,
  sink: CountSink,
  asOf = wanted.asOf,
): Promise<Read | null> {
  const source = boundedSource(reading.source, reading.memory);
  const isNewest = wanted.isNewest === true && asOf === wanted.asOf;
  const read = await countMatching({ ...reading, source, sink }, filter, asOf, isNewest);
  return read.asOf > read.lastCommit ? null : read;
}
