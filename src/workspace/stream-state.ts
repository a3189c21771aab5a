import { type DropReason, NUMBERED_DROPS, type StreamReport, UNNUMBERED_DROPS } from "../logs/ingest/stream-header.ts";

/**
 * What is known of a client's stream: the stream watermark, the numbers below it that have not arrived, and what the client says it
 * dropped. Pure: `streams.ts` stores it.
 */

/** Consecutive numbers below the watermark that have not arrived. */
export interface Gap {
  first: number;
  count: number;
  /** When a later number arrived, epoch milliseconds. */
  at: number;
  /** `seq` of the first entry that was stored after the gap. */
  beforeSeq: number;
}

/** Why entries of a gap are missing: what the client says it dropped, as far as that goes. */
export type GapReason = (typeof NUMBERED_DROPS)[number] | "unknown";

export interface StreamState {
  /** The stream watermark: every number below has arrived or is in a gap. */
  next: number;
  /** In order of numbers. */
  gaps: Gap[];
  /** Highest counts that the client has sent. */
  drops: Partial<Record<DropReason, number>>;
  /** Numbered drops that explain gaps which are closed. */
  explained: Partial<Record<DropReason, number>>;
}

/** Entries of a gap. Of a longer one, the numbers before the last ones are not counted. */
export const MAX_GAP_ENTRIES = 1_000_000_000;
/** Gaps that a late request can still fill. */
export const MAX_OPEN_GAPS = 32;
/** Milliseconds after the beginning of a stream in which its first requests may arrive in another order. */
const START_MS = 10 * 60 * 1000;
/** Milliseconds after which a stream without requests is forgotten. */
export const STREAM_IDLE_MS = 24 * 60 * 60 * 1000;

export type Counted = readonly [reason: (typeof UNNUMBERED_DROPS)[number], entries: number];

/**
 * Returns the state of a stream that was not known. Its first entries are missing if it has just begun or the client dropped
 * them; otherwise another version of the service has stored them, or the stream was forgotten.
 */
export function newStream({ epoch, first, drops }: StreamReport, now: number): StreamState {
  const isYoung = Math.abs(now - epoch) <= START_MS;
  const dropped = NUMBERED_DROPS.reduce((sum, reason) => sum + (drops[reason] ?? 0), 0);
  const next = isYoung ? 0 : Math.max(0, first - dropped);
  const isForgotten = now - epoch > STREAM_IDLE_MS;
  return { next, gaps: [], drops: isForgotten ? { ...drops } : {}, explained: {} };
}

/**
 * Adds a request that was stored.
 * @param seq of its first entry
 * @returns new drops without numbers, and gaps that no request fills any more, with their reasons
 */
export function advance(
  state: StreamState,
  { first, count, drops }: StreamReport,
  seq: number,
  now: number,
): { counted: Counted[]; closed: ExplainedGap[] } {
  const end = first + count;
  if (first < state.next) state.gaps = state.gaps.flatMap((gap) => without(gap, first, end));
  else if (first > state.next) {
    const count = Math.min(first - state.next, MAX_GAP_ENTRIES);
    state.gaps.push({ first: first - count, count, at: now, beforeSeq: seq });
  }
  state.next = Math.max(state.next, end);
  const counted = UNNUMBERED_DROPS.flatMap((reason): Counted[] => {
    const more = (drops[reason] ?? 0) - (state.drops[reason] ?? 0);
    return more > 0 ? [[reason, more]] : [];
  });
  for (const reason of [...UNNUMBERED_DROPS, ...NUMBERED_DROPS]) {
    const known = Math.max(state.drops[reason] ?? 0, drops[reason] ?? 0);
    if (known > 0) state.drops[reason] = known;
  }
  return { counted, closed: close(state, state.gaps.length - MAX_OPEN_GAPS) };
}

export interface ExplainedGap extends Gap {
  reason: GapReason;
}

/** Closes the oldest gaps: no request fills them any more. */
export function close(state: StreamState, count: number): ExplainedGap[] {
  const last = state.gaps[count - 1];
  if (count <= 0 || last === undefined) return [];
  const closed = explain(state).filter(({ first }) => first < last.first + last.count);
  state.gaps.splice(0, count);
  for (const { reason, count: entries } of closed) {
    if (reason !== "unknown") state.explained[reason] = (state.explained[reason] ?? 0) + entries;
  }
  return closed;
}

/** Returns the gaps with their reasons. A gap with several reasons is several gaps. */
export function explain({ gaps, drops, explained }: StreamState): ExplainedGap[] {
  const left = NUMBERED_DROPS.map((reason) => ({ reason, entries: (drops[reason] ?? 0) - (explained[reason] ?? 0) }));
  return gaps.flatMap((gap) => {
    const parts: ExplainedGap[] = [];
    let { first, count } = gap;
    for (const part of left) {
      const taken = Math.min(count, Math.max(0, part.entries));
      if (taken === 0) continue;
      parts.push({ ...gap, first, count: taken, reason: part.reason });
      part.entries -= taken;
      first += taken;
      count -= taken;
    }
    if (count > 0) parts.push({ ...gap, first, count, reason: "unknown" });
    return parts;
  });
}

/** Returns what is left of a gap without the numbers from `first` up to `end`, which is excluded. */
function without(gap: Gap, first: number, end: number): Gap[] {
  const to = gap.first + gap.count;
  if (end <= gap.first || first >= to) return [gap];
  return [
    { ...gap, count: first - gap.first },
    { ...gap, first: end, count: to - end },
  ].filter(({ count }) => count > 0);
}
