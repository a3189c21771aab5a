import type { RecentBatch, ReportUnreadable } from "../logs/batch.ts";
import { ScanPacer, untilIdle } from "../logs/query/budget.ts";
import { requestsStarted } from "../platform/turns.ts";
import { type ColdSeqSource, readCold } from "../tail/cold-range.ts";
import { linesOfBatches, type SeqLines, type SeqRange } from "../tail/frames.ts";
import type { CompiledRules } from "./compiled-rules.ts";
import type { Hit } from "./evaluator.ts";
import { type Counted, RuleMatcher } from "./matcher.ts";

/** Entries of a project with `after < seq <= until`, and what counts them. Plain data. */
export interface MatchCall {
  workspaceId: string;
  projectId: string;
  rules: Counted[];
  range: SeqRange;
  /** The batches of the range; `null` if it is in the cold tier. */
  batches: RecentBatch[] | null;
  /** Entries count as received at this time or later, epoch milliseconds: the time before is decided. */
  floor: number;
}

/** What was counted of a range up to a `seq`. Plain data. */
export interface Matched {
  /** In order of receipt. */
  hits: Hit[];
  /** Entries by run that were received too late for a window. */
  late: [run: number, count: number][];
  /** All entries up to this `seq` have been counted. */
  through: number;
  /** When the last of them was received, epoch milliseconds; `null` if there is none. */
  lastReceivedAt: number | null;
  /** Entries that are gone or cannot be read. */
  missing: number;
}

/** `RuleMatcher.pending` at which a call ends: 10,000 hits, or fewer with values. Adding them takes some 50 ms. */
const MAX_PENDING = 100_000;
/** Milliseconds after which a call ends with what it has counted: rules may have costly filters, and the thread little time. */
const MAX_MS = 10_000;
const LINE_BREAK = 10;

interface PlacedLine {
  unit: SeqLines;
  index: number;
  seq: number;
  start: number;
  end: number;
}

/** Counts a range, or its beginning if it has many groups or takes long. */
export async function matchRange(
  cold: ColdSeqSource,
  call: MatchCall,
  rules: CompiledRules,
  report: ReportUnreadable,
): Promise<Matched> {
  const { workspaceId, projectId, range, batches } = call;
  // Ingest on the same thread stays as fast, and the rules come later.
  const pacer = new ScanPacer(requestsStarted, untilIdle);
  const counter = new RangeCounter(new RuleMatcher(rules, projectId, pacer.meter), pacer, range.after, call.floor);
  if (batches === null) {
    const { units, through } = await readCold(cold, { workspaceId, projectId, report }, range);
    // Its units may overlap, because entries far from the others in time are stored apart.
    await counter.add(units, { after: range.after, until: through });
    for (const { close } of units) close?.();
    return counter.result(through);
  }
  for (const batch of batches) {
    const until = Math.min(range.until, batch.firstSeq + batch.count - 1);
    const units = linesOfBatches([batch], report);
    await counter.add(units, { after: range.after, until });
    for (const { close } of units) close?.();
    if (counter.isFull) return counter.result(until);
  }
  return counter.result(range.until);
}

class RangeCounter {
  /** Whether a call has enough hits or has taken long enough; the last line that was counted is its end. */
  isFull = false;
  readonly #matcher: RuleMatcher;
  readonly #pacer: ScanPacer;
  readonly #after: number;
  #read = 0;
  /** The time of the last line; it never falls. Versions before the time of the workspace may have stored earlier ones. */
  #receivedAt: number;
  #lastSeq: number | null = null;
  /** When the call is full; `null` before its first line. */
  #until: number | null = null;

  constructor(matcher: RuleMatcher, pacer: ScanPacer, after: number, floor: number) {
    this.#receivedAt = floor;
    this.#matcher = matcher;
    this.#pacer = pacer;
    this.#after = after;
  }

  /** Counts the lines of a range in order of `seq`, until the call is full. */
  async add(units: readonly SeqLines[], range: SeqRange): Promise<void> {
    this.#until ??= performance.now() + MAX_MS;
    const lines = units.flatMap((unit) => linesOf(unit, range));
    if (units.length > 1) lines.sort((a, b) => a.seq - b.seq);
    for (const { unit, index, seq, start, end } of lines) {
      const receivedAt = Math.max(unit.receivedAtOf(index), this.#receivedAt);
      const steps = this.#matcher.steps({ bytes: unit.body.subarray(start, end), seq, receivedAt });
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) await this.#pacer.pause();
      if (step.value) this.#read++;
      this.#receivedAt = receivedAt;
      this.#lastSeq = seq;
      await this.#pacer.pause();
      if (this.#matcher.pending < MAX_PENDING && performance.now() < this.#until) continue;
      this.isFull = true;
      return;
    }
  }

  /** @param until the end of what was added, if it was not too much */
  result(until: number): Matched {
    const through = this.isFull ? (this.#lastSeq ?? until) : until;
    const missing = Math.max(0, through - this.#after - this.#read);
    const lastReceivedAt = this.#lastSeq === null ? null : this.#receivedAt;
    return { hits: this.#matcher.takeHits(), late: this.#matcher.takeLate(), through, lastReceivedAt, missing };
  }
}

/** Returns the lines of a unit that are in the range. */
function linesOf(unit: SeqLines, { after, until }: SeqRange): PlacedLine[] {
  const { body } = unit;
  const lines: PlacedLine[] = [];
  for (let start = 0, index = 0; start < body.length; index++) {
    const at = body.indexOf(LINE_BREAK, start);
    const end = at < 0 ? body.length : at;
    const seq = unit.seqAt(index);
    if (seq > after && seq <= until) lines.push({ unit, index, seq, start, end });
    start = end + 1;
  }
  return lines;
}
