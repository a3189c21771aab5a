import { UnreadableItem } from "../batch.ts";
import { type PagerSelection, SegmentPager } from "../cold/store/selection.ts";
import { FIRST_SEGMENTS, type FoundSegment, MAX_SEGMENTS } from "../query/cold-feed.ts";
import type { LogFilter } from "../query/filter.ts";
import { type Counting, endOf } from "./count-feed.ts";
import { countSegments, isKnownState, type PartCall, type PartOutcome, partCall } from "./scan-part.ts";

/** How a read is split. */
export interface PartSizes {
  /** Entries from which on a read is split. */
  splitFrom: number;
  /** Entries of a part, unless a segment has more. */
  part: number;
}

/** A read of fewer entries takes a tenth of a second. A merged segment is a part. */
export const PART_SIZES: PartSizes = { splitFrom: 500_000, part: 250_000 };

/** Scan objects that read parts of a table. */
export interface ScanPool {
  /** Parts that are read at the same time. */
  slots: number;
  sizes: PartSizes;
  /** Reads a part. An error is like a refusal. @param slot 0 to `slots - 1`; one part at a time */
  scan(slot: number, call: PartCall): Promise<PartOutcome>;
}

/** Bytes that the state of a part may hold. The router holds one for each slot. */
const PART_BYTES = 4 * 1024 * 1024;

/** What is read: a filter, and the selection of the segments that may pass it. */
interface PartsWanted {
  filter: LogFilter;
  selection: PagerSelection;
}

/**
 * Counts the entries of the cold tier that pass a filter, newest first, in parts that scan objects read at the same time.
 * Parts are merged in their order, so that a read that ends early lacks older entries only. What a scan object does not
 * read, the caller reads.
 * @returns whether the budget and the sink sufficed
 */
export async function countParts(counting: Counting, wanted: PartsWanted, pool: ScanPool): Promise<boolean> {
  const { source, sink, pacer } = counting;
  const { meter } = pacer;
  const find = source.cold.findSegments.bind(source.cold);
  const pager = new SegmentPager(find, wanted.selection, MAX_SEGMENTS, FIRST_SEGMENTS);
  const parts = new PartReader(counting, wanted, pool);
  const end = endOf(counting);
  for (let isFirst = true; !pager.isDone; isFirst = false) {
    if (meter.done + pager.cost >= end || sink.isFull) return false;
    const segments = await pager.page();
    const isSmall = isFirst && pager.isDone && entriesOf(segments) < pool.sizes.splitFrom;
    const isWhole = isSmall
      ? await countSegments(counting, wanted, segments)
      : await parts.read(partsOf(segments, pool.sizes), end - pager.cost);
    if (!isWhole) return false;
  }
  meter.add(pager.cost);
  return !sink.isFull;
}

/** A part that was given to a scan object. */
interface StartedPart {
  segments: readonly FoundSegment[];
  /** Work units that it may take. */
  work: number;
  outcome: Promise<PartOutcome>;
}

/** Reads parts by a pool, and those that the pool refuses without it. */
class PartReader {
  readonly #counting: Counting;
  readonly #wanted: PartsWanted;
  readonly #pool: ScanPool;
  #slots: number;
  #isUsable = true;

  constructor(counting: Counting, wanted: PartsWanted, pool: ScanPool) {
    this.#counting = counting;
    this.#wanted = wanted;
    this.#pool = pool;
    const granted = counting.memory.grantInput(pool.slots * PART_BYTES, PART_BYTES);
    this.#slots = Math.max(1, Math.floor(granted / PART_BYTES));
  }

  /** @param end work units at which the read ends. @returns whether the budget and the sink sufficed */
  async read(parts: readonly FoundSegment[][], end: number): Promise<boolean> {
    const started: StartedPart[] = [];
    let next = 0;
    for (let merged = 0; merged < parts.length; merged++) {
      while (next < parts.length && next < merged + this.#slots) {
        const left = parts.length - next;
        started.push(this.#start(parts[next] ?? [], { slot: next % this.#slots, end, started, left }));
        next++;
      }
      this.#recordStates((started.length - 1) * PART_BYTES);
      const part = started.shift();
      if (part === undefined || !(await this.#merge(part, started))) return false;
      if (this.#counting.pacer.meter.done >= end && merged < parts.length - 1) return false;
    }
    return true;
  }

  /** @param left parts that were not started, this one included */
  #start(
    segments: FoundSegment[],
    { slot, end, started, left }: { slot: number; end: number; started: readonly StartedPart[]; left: number },
  ): StartedPart {
    const { sink, pacer, source } = this.#counting;
    const promised = started.reduce((sum, { work }) => sum + work, 0);
    // The parts that run together may take what is left of the budget, each an equal share.
    const work = Math.max(0, end - pacer.meter.done - promised) / Math.min(this.#slots - started.length, left);
    const plan = sink.parts?.plan;
    if (!this.#isUsable || plan === undefined) return { segments, work: 0, outcome: Promise.resolve(REFUSED) };
    const { workspaceId } = source;
    const call = partCall({ workspaceId, plan, ...this.#wanted, segments, work, stateBytes: PART_BYTES });
    return { segments, work, outcome: this.#pool.scan(slot, call).catch(() => REFUSED) };
  }

  /** @returns whether all entries of the part were counted */
  async #merge({ segments, outcome }: StartedPart, started: readonly StartedPart[]): Promise<boolean> {
    const { source, sink, memory, pacer } = this.#counting;
    const part = await outcome;
    memory.renew();
    if (part.outcome === "refused" || !isKnownState(part) || sink.parts === undefined) {
      this.#isUsable = false;
      return countSegments(this.#counting, this.#wanted, segments);
    }
    pacer.meter.add(part.work);
    this.#wanted.filter.rest?.compared.add(part.compared ?? []);
    for (const { message, entries } of part.faults) source.report(new UnreadableItem(message), entries);
    memory.recordDecoded(part.bytes);
    if (!sink.parts.hasRoom(part.bytes)) await this.#wait(started);
    for (const work of sink.parts.merge(part)) {
      memory.renew();
      await pacer.pause(work);
    }
    memory.recordDecoded(0);
    return part.outcome === "done" && !sink.isFull;
  }

  /** Waits until no part is read, and reads further parts one by one: in the same isolate they take the memory of the table. */
  async #wait(started: readonly StartedPart[]): Promise<void> {
    const outcomes = await Promise.all(started.map(({ outcome }) => outcome));
    this.#recordStates(outcomes.reduce((sum, part) => sum + (part.outcome === "refused" ? 0 : part.bytes), 0));
    this.#slots = 1;
  }

  /** Counts what scan objects return in the memory that was granted for it. */
  #recordStates(bytes: number): void {
    this.#counting.memory.recordInput(bytes);
  }
}

const REFUSED: PartOutcome = { outcome: "refused" };

/** Groups segments, in their order, into parts of about the same number of entries. */
function partsOf(segments: readonly FoundSegment[], { part: most }: PartSizes): FoundSegment[][] {
  const parts: FoundSegment[][] = [];
  let entries = 0;
  for (const segment of segments) {
    const part = parts.at(-1);
    if (part === undefined || entries + segment.count > most) {
      parts.push([segment]);
      entries = segment.count;
    } else {
      part.push(segment);
      entries += segment.count;
    }
  }
  return parts;
}

function entriesOf(segments: readonly FoundSegment[]): number {
  return segments.reduce((sum, { count }) => sum + count, 0);
}
