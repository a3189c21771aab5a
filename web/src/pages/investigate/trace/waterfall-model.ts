import type { Level, LogEntry } from "../../../model/types.ts";
import { type Span, spansOf } from "./spans.ts";

/** A row of the timeline. */
export interface WaterfallRow {
  span: Span;
  /** 0: without a parent. */
  depth: number;
  /** Key of the row above it in the tree, or `null`. */
  parent: string | null;
  /** Place among the children of its parent, from 1, and their number. */
  place: number;
  siblings: number;
}

export interface Waterfall {
  /** All spans in the order of the timeline: each before its children. */
  rows: readonly WaterfallRow[];
  /** Epoch milliseconds of the whole trace. */
  start: number;
  end: number;
  /** Services by their first appearance; an empty name for entries without one. */
  services: readonly string[];
  errors: number;
}

const SEVERE: readonly Level[] = ["error", "fatal"];

export function waterfallOf(entries: readonly LogEntry[]): Waterfall {
  const roots = spansOf(entries);
  const rows: WaterfallRow[] = [];
  // With a stack of its own, because a chain of spans may be as long as the trace.
  const stack: WaterfallRow[] = [];
  const push = (spans: readonly Span[], depth: number, parent: string | null): void => {
    for (const [at, span] of [...spans.entries()].reverse()) {
      stack.push({ span, depth, parent, place: at + 1, siblings: spans.length });
    }
  };
  push(roots, 0, null);
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    rows.push(row);
    push(row.span.children, row.depth + 1, row.span.key);
  }
  const spans = rows.map(({ span }) => span);
  return {
    rows,
    start: spans.reduce((least, { start }) => Math.min(least, start), Number.POSITIVE_INFINITY),
    end: spans.reduce((most, { end }) => Math.max(most, end), Number.NEGATIVE_INFINITY),
    services: [...new Set(spans.map(({ service }) => service))],
    errors: entries.filter(({ level }) => SEVERE.includes(level)).length,
  };
}

/** A span with the time in which none of its children ran, milliseconds. */
export interface OwnTime {
  span: Span;
  ms: number;
}

/** Returns the span that took longest itself; `null` if none took time. */
export function longestOwn(rows: readonly WaterfallRow[]): OwnTime | null {
  let longest: OwnTime | null = null;
  for (const { span } of rows) {
    const ms = ownMs(span);
    if (ms > (longest?.ms ?? 0)) longest = { span, ms };
  }
  return longest;
}

function ownMs({ start, end, children }: Span): number {
  let own = 0;
  let at = start;
  for (const child of [...children].sort((a, b) => a.start - b.start)) {
    own += Math.max(0, Math.min(child.start, end) - at);
    at = Math.max(at, child.end);
  }
  return own + Math.max(0, end - at);
}

/** Returns the rows whose parents are all open. */
export function openRows(rows: readonly WaterfallRow[], closed: ReadonlySet<string>): WaterfallRow[] {
  if (closed.size === 0) return [...rows];
  const hidden = new Set<string>();
  return rows.filter(({ span, parent }) => {
    const isHidden = parent !== null && (closed.has(parent) || hidden.has(parent));
    if (isHidden) hidden.add(span.key);
    return !isHidden;
  });
}

/** A bar within the whole trace, as parts of its width from 0 to 1. */
export function placeOf(
  { start, end }: { start: number; end: number },
  whole: { start: number; end: number },
): { left: number; width: number } {
  const length = whole.end - whole.start;
  if (!(length > 0)) return { left: 0, width: 0 };
  return { left: (start - whole.start) / length, width: (end - start) / length };
}

/** Parts of a scale, times a power of ten. */
const STEPS = [1, 2, 2.5, 5, 10] as const;

/** Returns the lengths of time at which a scale of a trace has its marks, from 0. */
export function scaleOf(ms: number, most: number): number[] {
  if (!(ms > 0)) return [0];
  const power = 10 ** Math.floor(Math.log10(ms / most));
  const step = (STEPS.find((each) => ms / (each * power) <= most) ?? 10) * power;
  return Array.from({ length: Math.floor(ms / step) + 1 }, (_, at) => at * step);
}
