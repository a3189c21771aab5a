import type { RecentBatch, ReportUnreadable } from "../logs/batch.ts";
import { ScanPacer, untilIdle } from "../logs/query/budget.ts";
import { requestsStarted } from "../platform/turns.ts";
import { type ColdSeqSource, readCold } from "../tail/cold-range.ts";
import { linesOfBatches, type SeqLines, type SeqRange } from "../tail/frames.ts";
import type { CompiledRules } from "./compiled-rules.ts";
import type { Hit } from "./evaluator.ts";
import { type Counted, HIT_WEIGHT, RuleMatcher } from "./matcher.ts";

/** Entries of a project with `after < seq <= until` that rules are to count. Plain data. */
export interface MatchedRange {
  workspaceId: string;
  projectId: string;
  range: SeqRange;
  /** The batches of the range; `null` if it is in the cold tier. */
  batches: RecentBatch[] | null;
  /** Entries count as received at this time or later, epoch milliseconds: the time before is decided. */
  floor: number;
  /** Hits of groups that the object writes together: what was counted comes in parts. Absent from an older object: in one. */
  hitsAtOnce?: number;
  /** The same of hits of one run, in place of `hitsAtOnce`. Absent from an older object, which writes a whole part together. */
  hitsOfRun?: number;
}

/** As objects of versions before `TextMatchCall` send it. */
export interface MatchCall extends MatchedRange {
  rules: Counted[];
}

/** A call with its rules as JSON: a thread copies a text faster than the filters of a hundred rules. */
export interface TextMatchCall extends MatchedRange {
  /** An array of `Counted`. */
  rules: string;
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
  /** When the first of the entries was received, as `lastReceivedAt`; absent from an older matcher. */
  firstReceivedAt?: number | null;
  /** What was counted after `through`, in parts. The entries of a part were received within a second. */
  rest?: Matched[];
}

/** `RuleMatcher.pending` at which a call ends: 10,000 hits, or fewer with values. Adding them takes some 50 ms. */
const MAX_PENDING = 100_000;
/** Milliseconds after which a call ends with what it has counted: rules may have costly filters, and the thread little time. */
const MAX_MS = 10_000;
const SECOND_MS = 1000;
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
  call: MatchedRange,
  rules: CompiledRules,
  report: ReportUnreadable,
): Promise<Matched> {
  const { workspaceId, projectId, range, batches } = call;
  // Ingest on the same thread stays as fast, and the rules come later.
  const pacer = new ScanPacer(requestsStarted, untilIdle);
  const counter = new RangeCounter(new RuleMatcher(rules, projectId, pacer.meter), pacer, call);
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
  readonly #hitsAtOnce: number | null;
  readonly #hitsOfRun: number | null;
  readonly #parts: Matched[] = [];
  /** `RuleMatcher.pending` of the parts that are complete. */
  #counted = 0;
  /** The part that is being counted: the `seq` before it, the entries that were read, and the first one's time. */
  #after: number;
  #read = 0;
  #firstReceivedAt: number | null = null;
  /** The time of the last line; it never falls. Versions before the time of the workspace may have stored earlier ones. */
  #receivedAt: number;
  #lastSeq: number | null = null;
  /** When the call is full; `null` before its first line. */
  #until: number | null = null;

  constructor(matcher: RuleMatcher, pacer: ScanPacer, { range, floor, hitsAtOnce, hitsOfRun }: MatchedRange) {
    this.#receivedAt = floor;
    this.#matcher = matcher;
    this.#pacer = pacer;
    this.#after = range.after;
    this.#hitsAtOnce = hitsAtOnce ?? null;
    this.#hitsOfRun = hitsOfRun ?? null;
  }

  /** Counts the lines of a range in order of `seq`, until the call is full. */
  async add(units: readonly SeqLines[], range: SeqRange): Promise<void> {
    this.#until ??= performance.now() + MAX_MS;
    const lines = units.flatMap((unit) => linesOf(unit, range));
    if (units.length > 1) lines.sort((a, b) => a.seq - b.seq);
    for (const { unit, index, seq, start, end } of lines) {
      const receivedAt = Math.max(unit.receivedAtOf(index), this.#receivedAt);
      if (this.#isPartOver(receivedAt)) this.#parts.push(this.#takePart(this.#lastSeq ?? this.#after));
      const steps = this.#matcher.steps({ bytes: unit.body.subarray(start, end), seq, receivedAt });
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) await this.#pacer.pause();
      if (step.value) this.#read++;
      this.#receivedAt = receivedAt;
      this.#firstReceivedAt ??= receivedAt;
      this.#lastSeq = seq;
      await this.#pacer.pause();
      if (this.#counted + this.#matcher.pending < MAX_PENDING && performance.now() < this.#until) continue;
      this.isFull = true;
      return;
    }
  }

  /** @param until the end of what was added, if it was not too much */
  result(until: number): Matched {
    const through = this.isFull ? (this.#lastSeq ?? until) : until;
    const [first, ...rest] = [...this.#parts, this.#takePart(through)];
    if (first === undefined) throw new RangeError("A range has no part.");
    return this.#hitsAtOnce === null ? first : { ...first, rest };
  }

  /** Whether the next line begins another part. */
  #isPartOver(receivedAt: number): boolean {
    if (this.#hitsAtOnce === null || this.#firstReceivedAt === null) return false;
    // Decisions are due at whole seconds, of the entries until then.
    const isLater = Math.ceil(receivedAt / SECOND_MS) !== Math.ceil(this.#receivedAt / SECOND_MS);
    const { all, most } = this.#matcher.grouped;
    if (this.#hitsOfRun !== null) return isLater || most >= this.#hitsOfRun * HIT_WEIGHT;
    return isLater || all >= this.#hitsAtOnce * HIT_WEIGHT;
  }

  #takePart(through: number): Matched {
    const missing = Math.max(0, through - this.#after - this.#read);
    const firstReceivedAt = this.#firstReceivedAt;
    const lastReceivedAt = firstReceivedAt === null ? null : this.#receivedAt;
    this.#counted += this.#matcher.pending;
    const [hits, late] = [this.#matcher.takeHits(), this.#matcher.takeLate()];
    this.#after = through;
    this.#read = 0;
    this.#firstReceivedAt = null;
    return { hits, late, through, firstReceivedAt, lastReceivedAt, missing };
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
