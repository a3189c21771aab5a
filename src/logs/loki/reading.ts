import type { Stage } from "../../logql/syntax.ts";
import { MAX_TESTS } from "../cold/filter/token-tests.ts";
import type { QueryBudget, ScanPacer } from "../query/budget.ts";
import type { LogFilter } from "../query/filter.ts";
import type { ReadMemory } from "../query/memory.ts";
import { boundedSource } from "../query/tiers.ts";
import type { SearchSource } from "../search/search-query.ts";
import { countMatching } from "../stats/count-entries.ts";
import { EntrySink, type TakeEntry } from "./entry-sink.ts";
import { lineTokenTests } from "./line-tests.ts";

/** What a query of LogQL reads, and what it may use. */
export interface LokiReading {
  source: SearchSource;
  budget: QueryBudget;
  memory: ReadMemory;
  pacer: ScanPacer;
}

/** A query that cannot be answered as a whole. Loki answers such a query with an error, too. */
export class LokiLimit extends Error {
  constructor(message: string) {
    super(message);
    this.name = "LokiLimit";
  }
}

export const TOO_MUCH_WORK =
  "the query needs more work than a request may take: narrow the time range or the selector, because a part of the entries would be a wrong result";

/**
 * Reads all entries of both tiers that pass a filter, in no certain order.
 * @param asOf commit number of the snapshot; `null` for the newest one
 * @returns the number of examined entries
 * @throws LokiLimit if the request's work ends first
 */
export async function readAll(
  reading: LokiReading,
  filter: LogFilter,
  take: TakeEntry,
  asOf: number | null = null,
): Promise<number> {
  const { source, memory, pacer } = reading;
  const sink = new EntrySink(take, pacer.meter);
  const counting = { ...reading, source: boundedSource(source, memory), sink };
  const { complete } = await countMatching(counting, filter, asOf);
  if (!complete && !sink.isFull) throw new LokiLimit(TOO_MUCH_WORK);
  return sink.examined;
}

/** Returns a reading that skips segments without an entry that passes the line filters of a pipeline. */
export function narrowedReading(reading: LokiReading, stages: readonly Stage[]): LokiReading {
  const tests = lineTokenTests(stages);
  if (tests.length === 0) return reading;
  const { source } = reading;
  const { cold } = source;
  const findSegments: typeof cold.findSegments = (selection) =>
    // Most segments have the service of a selector. A lookup takes the first tests.
    cold.findSegments({ ...selection, tests: [...tests, ...selection.tests].slice(0, MAX_TESTS) });
  return { ...reading, source: { ...source, cold: { ...cold, findSegments } } };
}
