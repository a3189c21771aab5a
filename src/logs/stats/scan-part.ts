import { Aggregator } from "../aggregate/aggregator.ts";
import { fieldOf } from "../aggregate/fields.ts";
import { type AggregatePlan, FIELD_FUNCTIONS } from "../aggregate/plan.ts";
import type { PagerSelection } from "../cold/store/selection.ts";
import { QUERY_BUDGET, ScanPacer } from "../query/budget.ts";
import { ColdFeed, type FoundSegment } from "../query/cold-feed.ts";
import { type LogFilter, OPEN_FILTER } from "../query/filter.ts";
import type { ReadMemory } from "../query/memory.ts";
import type { LogSource } from "../query/tiers.ts";
import { boundedSource } from "../query/tiers.ts";
import { type RestFilter, restFilterOf } from "../search/rest-filter.ts";
import { type Counting, countFeed, groupsOf, type PartState } from "./count-feed.ts";
import { TableSink } from "./table-sink.ts";

/** Parts of a large table: row groups that a scan object adds up, and the state that it returns. */

/**
 * Version of a part and of its state. Raise it with each change of what a plan, a filter or a state means: a scan object
 * of another version refuses the part, and the router reads it.
 */
const PART_VERSION = 3;

/** A filter without functions. */
type PlainFilter = Omit<LogFilter, "rest"> & { rest: Pick<RestFilter, "filter" | "now" | "text"> | null };

/** What a scan object reads. Plain data, because it crosses versions during a deploy. */
export interface PartCall {
  version: number;
  workspaceId: string;
  plan: AggregatePlan;
  filter: PlainFilter;
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

export function partCall({ filter, ...part }: Omit<PartCall, "version" | "filter"> & { filter: LogFilter }): PartCall {
  const { rest, ...members } = filter;
  const plain = rest && { filter: rest.filter, now: rest.now, text: rest.text };
  return { version: PART_VERSION, ...part, filter: { ...members, rest: plain } };
}

/** Adds up the entries of a part. Reads segments by their keys; `source` need not find any. */
export async function scanPart(source: LogSource, call: PartCall, memory: ReadMemory): Promise<PartOutcome> {
  const filter = isKnown(call) ? filterOf(call.filter) : null;
  if (filter === null) return { outcome: "refused" };
  const pacer = new ScanPacer();
  const aggregator = new Aggregator(call.plan);
  const sink = new TableSink(aggregator, memory, pacer, 0, call.stateBytes);
  const faults: PartState["faults"][number][] = [];
  const report: LogSource["report"] = ({ message }, entries) => void faults.push({ message, entries });
  const counting = {
    source: boundedSource({ ...source, report }, memory),
    sink,
    budget: { ...QUERY_BUDGET, work: call.work },
    memory,
    pacer,
  };
  const isWhole = await countSegments(counting, { ...call, filter }, call.segments);
  if (sink.isFull) return { outcome: "refused" };
  const { matched, examined } = sink;
  const state = { partial: aggregator.partial(), bytes: aggregator.held.bytes, work: pacer.meter.done, faults };
  const compared = filter.rest?.compared.skipped ?? [];
  return { outcome: isWhole ? "done" : "cut", matched, examined, ...state, compared };
}

/**
 * Counts the entries of known segments that pass a filter, newest first.
 * @returns whether the budget and the sink sufficed
 */
export async function countSegments(
  counting: Counting,
  { selection, filter }: { selection: PagerSelection; filter: LogFilter },
  segments: readonly FoundSegment[],
): Promise<boolean> {
  const found = { ...counting.source.cold, findSegments: async () => ({ segments: [...segments], next: null }) };
  const feed = await ColdFeed.open(found, selection, segments.length, { ...groupsOf(counting), filter });
  return countFeed(counting, feed, filter);
}

const FUNCTIONS: ReadonlySet<string> = new Set(["count", "rate", ...FIELD_FUNCTIONS]);
const OPERATORS: ReadonlySet<string> = new Set(["eq", "ne", "gt", "gte", "lt", "lte", "in", "exists"]);
const PLAN_MEMBERS = ["columns", "fields", "keys", "measures", "rateSeconds"];
const FIELD_MEMBERS = ["member", "name", "own", "paths"];

/** Whether this version understands all of a call. A filter with a further member would be read as if it had none. */
function isKnown({ version, plan, filter }: PartCall): boolean {
  return (
    version === PART_VERSION &&
    hasMembers(filter, Object.keys(OPEN_FILTER)) &&
    filter.data.every(({ op }) => OPERATORS.has(op)) &&
    hasMembers(plan, PLAN_MEMBERS) &&
    plan.fields.every((field) => hasMembers(field, FIELD_MEMBERS) && isKnownField(field.own)) &&
    plan.columns.every((column) => column.from !== "measure" || FUNCTIONS.has(column.fn))
  );
}

function hasMembers(value: object, names: readonly string[]): boolean {
  return Object.keys(value).sort().join() === [...names].sort().join();
}

function isKnownField(own: string | null): boolean {
  return own === null || fieldOf(own).own === own;
}

/** @returns `null` if this version reads the query in another way */
function filterOf({ rest, ...members }: PlainFilter): LogFilter | null {
  if (rest === null) return { ...members, rest };
  const known = restFilterOf(rest.filter, rest.now);
  return known.text === rest.text ? { ...members, rest: known } : null;
}

/** Whether a state is one that this version merges. */
export function isKnownState({ partial }: PartState): boolean {
  return partial.version === 1;
}
