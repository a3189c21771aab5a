import { Aggregator } from "../aggregate/aggregator.ts";
import { type AggregatePlan, FIELD_FUNCTIONS } from "../aggregate/plan.ts";
import type { PagerSelection } from "../cold/store/selection.ts";
import { QUERY_BUDGET, ScanPacer } from "../query/budget.ts";
import { ColdFeed, type FoundSegment } from "../query/cold-feed.ts";
import { type LogFilter, OPEN_FILTER } from "../query/filter.ts";
import { boundedSource, type ReadMemory } from "../query/memory.ts";
import type { LogSource } from "../query/tiers.ts";
import { type Counting, countFeed, groupsOf, type PartState } from "./count-feed.ts";
import { TableSink } from "./table-sink.ts";

/** Parts of a large table: row groups that a scan object adds up, and the state that it returns. */

/**
 * Version of a part and of its state. Raise it with each change of what a plan, a filter or a state means: a scan object
 * of another version refuses the part, and the router reads it.
 */
const PART_VERSION = 1;

/** What a scan object reads. Plain data, because it crosses versions during a deploy. */
export interface PartCall {
  version: number;
  workspaceId: string;
  plan: AggregatePlan;
  filter: LogFilter;
  selection: PagerSelection;
  segments: readonly FoundSegment[];
  /** Work units that the part may take. */
  work: number;
  /** Bytes that its state may hold. */
  stateBytes: number;
}

/**
 * `done`: all entries; `cut`: the work did not suffice, older entries of the part are missing. `refused`: nothing was
 * read, or the state would be too large; the caller reads the part.
 */
export type PartOutcome = ({ outcome: "done" | "cut" } & PartState) | { outcome: "refused" };

export function partCall(part: Omit<PartCall, "version">): PartCall {
  return { version: PART_VERSION, ...part };
}

/** Adds up the entries of a part. Reads segments by their keys; `source` need not find any. */
export async function scanPart(source: LogSource, call: PartCall, memory: ReadMemory): Promise<PartOutcome> {
  if (!isKnown(call)) return { outcome: "refused" };
  const pacer = new ScanPacer();
  const aggregator = new Aggregator(call.plan);
  const sink = new TableSink(aggregator, memory, pacer, call.stateBytes);
  const faults: PartState["faults"][number][] = [];
  const report: LogSource["report"] = ({ message }, entries) => void faults.push({ message, entries });
  const counting = {
    source: boundedSource({ ...source, report }, memory),
    sink,
    budget: { ...QUERY_BUDGET, work: call.work },
    memory,
    pacer,
  };
  const isWhole = await countSegments(counting, call, call.segments);
  if (sink.isFull) return { outcome: "refused" };
  const { matched, examined } = sink;
  const state = { partial: aggregator.partial(), bytes: aggregator.held.bytes, work: pacer.meter.done, faults };
  return { outcome: isWhole ? "done" : "cut", matched, examined, ...state };
}

/**
 * Counts the entries of known segments that pass a filter, newest first.
 * @returns whether the budget and the sink sufficed
 */
export async function countSegments(
  counting: Counting,
  { selection, filter }: Pick<PartCall, "selection" | "filter">,
  segments: readonly FoundSegment[],
): Promise<boolean> {
  const found = { ...counting.source.cold, findSegments: async () => ({ segments: [...segments], next: null }) };
  const feed = await ColdFeed.open(found, selection, segments.length, { ...groupsOf(counting), filter });
  return countFeed(counting, feed, filter);
}

const FUNCTIONS: ReadonlySet<string> = new Set(["count", "rate", ...FIELD_FUNCTIONS]);
const OPERATORS: ReadonlySet<string> = new Set(["eq", "ne", "gt", "gte", "lt", "lte", "in", "exists"]);

/** Whether this version understands all of a call. A filter with a further member would be read as if it had none. */
function isKnown({ version, plan, filter }: PartCall): boolean {
  return (
    version === PART_VERSION &&
    Object.keys(filter).sort().join() === Object.keys(OPEN_FILTER).sort().join() &&
    filter.data.every(({ op }) => OPERATORS.has(op)) &&
    plan.columns.every((column) => column.from !== "measure" || FUNCTIONS.has(column.fn))
  );
}

/** Whether a state is one that this version merges. */
export function isKnownState({ partial }: PartState): boolean {
  return partial.version === 1;
}
