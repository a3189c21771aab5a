import type { Level, LogEntry } from "../../../model/types.ts";
import { ownName } from "../../explorer/results/own-name.ts";
import { moreSevere } from "../more-severe.ts";
import { idIn, isId } from "../trace-ids.ts";
import { durationOf, statedTimes } from "./duration.ts";

/** The entries of a trace as a tree of spans. */

/** Where the start and the end of a bar come from. */
export type Source =
  /** Both are members of `data`. */
  | "stated"
  /** The entry states a duration and is written at its end. */
  | "duration"
  /** From the first to the last entry of the span. */
  | "entries"
  /** A moment: nothing states how long it took. */
  | "moment";

export interface Span {
  /** Unique within the trace. */
  key: string;
  spanId: string | null;
  /** The entries of the span, by time. A span without an id has one. */
  entries: readonly LogEntry[];
  /** The entry that stands for the span: the one that states how long it took, else the first one. */
  entry: LogEntry;
  service: string;
  /** The most severe of its entries. */
  level: Level;
  /** Epoch milliseconds. */
  start: number;
  end: number;
  source: Source;
  /** Id of a parent that has no entry in the trace. */
  missingParent: string | null;
  children: Span[];
}

/** Returns the spans without a known parent, by start. Each entry is in exactly one span. */
export function spansOf(entries: readonly LogEntry[]): Span[] {
  const groups = new Map<string, LogEntry[]>();
  for (const entry of entries) {
    const spanId = spanIdOf(entry);
    // Keys of entries and of spans never clash.
    const key = spanId === null ? `entry ${entry.id}` : `span ${spanId}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  const spans = new Map<string, Span>();
  const parents = new Map<string, string>();
  for (const [key, group] of groups) {
    group.sort((a, b) => timeOf(a) - timeOf(b) || a.seq - b.seq);
    spans.set(key, spanOf(key, group));
    const parent = group.map(parentIdOf).find((id) => id !== null);
    if (parent !== undefined && parent !== null) parents.set(key, `span ${parent}`);
  }
  const roots: Span[] = [];
  for (const [key, span] of spans) {
    const parentKey = parents.get(key);
    const parent = parentKey === undefined ? undefined : spans.get(parentKey);
    if (parentKey !== undefined && parent === undefined) span.missingParent = parentKey.slice("span ".length);
    if (parent === undefined || isOwnAncestor(key, parents)) roots.push(span);
    else parent.children.push(span);
  }
  for (const span of spans.values()) span.children.sort(byStart);
  return roots.sort(byStart);
}

function byStart(a: Span, b: Span): number {
  return a.start - b.start || b.end - a.end || a.entry.seq - b.entry.seq;
}

/** Whether the parents of a span lead back to it. Such a span is shown without its parent. */
function isOwnAncestor(key: string, parents: ReadonlyMap<string, string>): boolean {
  const seen = new Set<string>();
  for (let at = parents.get(key); at !== undefined && !seen.has(at); at = parents.get(at)) {
    if (at === key) return true;
    seen.add(at);
  }
  return false;
}

function spanOf(key: string, entries: readonly LogEntry[]): Span {
  const [first, ...others] = entries.map((entry) => ({ entry, ...extentOf(entry) }));
  if (first === undefined) throw new RangeError("A span has entries.");
  const all = [first, ...others];
  const stated = all.find(({ source }) => source === "stated") ?? longest(all);
  const start = Math.min(...all.map((each) => each.start));
  const end = Math.max(...all.map((each) => each.end));
  const isLonger = stated === null && end > start;
  const entry = stated?.entry ?? first.entry;
  return {
    key,
    spanId: spanIdOf(entry),
    entries,
    entry,
    service: ownName(entry, "service"),
    level: entries.reduce((level, each) => moreSevere(level, each.level) ?? level, entry.level),
    start: stated?.start ?? start,
    end: stated?.end ?? end,
    source: stated?.source ?? (isLonger ? "entries" : "moment"),
    missingParent: null,
    children: [],
  };
}

interface Extent {
  start: number;
  end: number;
  source: Source;
}

function longest<E extends Extent>(all: readonly E[]): E | null {
  const lasting = all.filter(({ source }) => source === "duration");
  return lasting.reduce<E | null>(
    (most, each) => (most === null || lengthOf(each) > lengthOf(most) ? each : most),
    null,
  );
}

function lengthOf({ start, end }: Extent): number {
  return end - start;
}

/** Returns from when until when the work of an entry lasted. */
export function extentOf(entry: LogEntry): Extent {
  const at = timeOf(entry);
  const data = entry.data ?? {};
  const { start, end } = statedTimes(data);
  if (start !== null && end !== null && end >= start) return { start, end, source: "stated" };
  const duration = durationOf(data);
  if (duration === null) return { start: at, end: at, source: "moment" };
  if (start !== null) return { start, end: start + duration, source: "stated" };
  return { start: at - duration, end: at, source: "duration" };
}

function timeOf({ timestamp }: LogEntry): number {
  return Date.parse(timestamp);
}

const SPAN_NAMES = ["spanId", "span_id", "spanID", "span.id"] as const;
const PARENT_NAMES = ["parentSpanId", "parent_span_id", "parentSpanID", "parentId", "parent_id", "parent.id"] as const;
function spanIdOf({ spanId, data }: LogEntry): string | null {
  return spanId !== undefined && isId(spanId) ? spanId : (idIn(data, SPAN_NAMES)?.text ?? null);
}

export function parentIdOf({ data }: LogEntry): string | null {
  return idIn(data, PARENT_NAMES)?.text ?? null;
}
