import { reportEntries } from "../batch.ts";
import { READABLE_MS } from "../cold/compaction/visibility.ts";
import { type PagerSelection, SegmentPager, type SegmentPosition } from "../cold/store/selection.ts";
import { BatchMatcher, type Wanted } from "./batch-matcher.ts";
import { type ScanPacer, WORK } from "./budget.ts";
import { ColdFeed, FIRST_SEGMENTS, type FoundSegment } from "./cold-feed.ts";
import type { FoundKey, ResumableScanPosition, ResumableScanState } from "./cursor.ts";
import {
  boundOf,
  compareRows,
  direction,
  isBehind,
  itemOfBatch,
  mayContainRow,
  type Order,
  type RowPosition,
  type ScanItem,
} from "./feed.ts";
import type { LogFilter } from "./filter.ts";
import type { ReadMemory } from "./memory.ts";
import type { RecentPage, RecentScan, ScanPosition } from "./recent-feed.ts";
import { openItem, readable } from "./scan.ts";
import { coldProjects, type LogSource } from "./tiers.ts";

/** Maximum number of segments on a page. */
const MAX_SEGMENTS = 64;
/** Segments that are examined for a compaction since the last request. */
const MAX_CHECKED = 16_384;
/** Bytes as stored of a page of batches. */
const PAGE_BYTES = 512 * 1024;

type ColdPosition = Extract<ResumableScanPosition, { tier: "cold" }>;
type ColdStart = { after: SegmentPosition | null; readAt: number };

/** Range and conditions of a resumable scan. */
export interface ResumableScanQuery {
  order: Order;
  /** Finds rows after this position. */
  position: RowPosition;
  /** The filter, with `from` at the retention cutoff or later. */
  filter: LogFilter;
  recent: Omit<RecentScan, "position" | "maxBytes">;
  /** Selection of segments, up to the watermarks of the first recent page. */
  cold: PagerSelection;
  /** Work units of one request. Exceeded by at most one batch or segment. */
  work: number;
  /** Number of rows to find. */
  rows: number;
}

/**
 * Finds the next rows in several requests, if one request's work does not suffice to advance in time: if many batches
 * and segments span the cursor's position, or share one millisecond. Each request continues where the one before ended.
 * The cursor carries the keys of the first rows found so far. At the end they are the next rows, and are read by their
 * keys; see `found-row-reader.ts`.
 *
 * Entries that move to the cold tier meanwhile are found there, possibly a second time. A key counts once.
 */
export class ResumableScan {
  scanned = 0;
  readonly #source: LogSource;
  readonly #scan: ResumableScanQuery;
  readonly #pacer: ScanPacer;
  readonly #memory: ReadMemory;
  readonly #matcher: BatchMatcher;
  readonly #keys: FirstKeys;
  /**
   * Selection of segments by the watermarks of the last recent page. It includes what moved before that page was read.
   */
  #cold: PagerSelection;
  /** Whether this request has scanned an item. */
  #hasBegun = false;

  constructor(
    source: LogSource,
    scan: ResumableScanQuery,
    pacer: ScanPacer,
    memory: ReadMemory,
    state: ResumableScanState,
  ) {
    this.#source = source;
    this.#scan = scan;
    this.#cold = scan.cold;
    this.#pacer = pacer;
    this.#memory = memory;
    this.#matcher = new BatchMatcher(scan.filter, pacer.meter);
    this.#keys = new FirstKeys(scan.order, scan.rows, state.keys);
  }

  /**
   * Scans until the end or until the work is used up.
   * @param page of recent batches from the position on, if the position is in the recent tier
   */
  async run(start: ResumableScanPosition, page: RecentPage): Promise<ResumableScanState> {
    let next: ResumableScanPosition | null = start;
    if (start.tier === "recent") {
      const position = await this.#scanRecent(page);
      next = position === null ? { tier: "cold", after: null, readAt: null } : { tier: "recent", position };
    }
    if (next.tier === "cold" && !this.#isDue) next = await this.#scanCold(await this.#resumed(next));
    const { keys } = this.#keys;
    return { resumeAt: next, keys, isLast: next === null && keys.length < this.#scan.rows };
  }

  get #isDue(): boolean {
    return this.#hasBegun && this.#pacer.meter.done >= this.#scan.work;
  }

  /** @returns the position of the next batch; `null` at the end */
  async #scanRecent(first: RecentPage): Promise<ScanPosition | null> {
    const { order, recent } = this.#scan;
    for (let page = first; ; ) {
      for (const batch of page.batches) {
        const position = { timestamp: boundOf(order, batch), commit: batch.commit };
        if (this.#isBeyond(position.timestamp)) return null;
        if (this.#isDue) return position;
        await this.#scanItem(itemOfBatch(batch), position);
      }
      const position = page.next;
      if (position === null || this.#isBeyond(position.timestamp)) return null;
      if (this.#isDue) return position;
      page = await this.#source.recent({ ...recent, position, maxBytes: PAGE_BYTES });
      this.#cold = { ...this.#cold, projects: coldProjects(page.flushed) };
      this.#hasBegun = true;
      this.#pacer.meter.add(WORK.segment);
    }
  }

  /**
   * Returns the position from which segments are read. A compaction since the last request may have merged segments before
   * the position with segments after it. Then the scan begins again: a key that is found twice counts once.
   */
  async #resumed({ after, readAt }: ColdPosition): Promise<ColdStart> {
    const now = Date.now();
    if (after === null) return { after: null, readAt: now };
    if (readAt !== null && now - readAt < READABLE_MS) return { after, readAt };
    const from = boundOf(this.#scan.order, after);
    const { segments, next } = await this.#source.cold.findSegments({
      ...this.#cold,
      from,
      to: from + 1,
      after: null,
      limit: 1,
      maxScanned: MAX_CHECKED,
      readAt: now,
      // Merged segments exist only since versions whose cursors have the time.
      mergedAfter: readAt ?? 0,
    });
    return { after: segments.length > 0 || next !== null ? null : after, readAt: now };
  }

  /** @returns the position at which to continue; `null` at the end */
  async #scanCold({ after: first, readAt }: ColdStart): Promise<ResumableScanPosition | null> {
    const { order } = this.#scan;
    const { meter } = this.#pacer;
    const read = (selection: Parameters<LogSource["cold"]["findSegments"]>[0]) =>
      this.#source.cold.findSegments(selection);
    const pager = new SegmentPager(read, { ...this.#cold, readAt }, MAX_SEGMENTS, FIRST_SEGMENTS, first);
    let after = first;
    for (let cost = 0; !pager.isDone; ) {
      const segments = await pager.page();
      meter.add(pager.cost - cost);
      cost = pager.cost;
      for (const segment of segments) {
        if (this.#isBeyond(boundOf(order, segment))) return null;
        if (this.#isDue) return { tier: "cold", after, readAt };
        await this.#scanSegment(segment);
        const { minTimestamp, maxTimestamp, projectId, firstSeq, part } = segment;
        after = { minTimestamp, maxTimestamp, projectId, firstSeq, part };
      }
      const { position } = pager;
      if (position === null || this.#isBeyond(boundOf(order, position))) return null;
      after = position;
      this.#hasBegun = true;
      if (this.#isDue) return { tier: "cold", after, readAt };
    }
    return null;
  }

  /** Whether every entry at or after this time comes after the rows found. */
  #isBeyond(bound: number): boolean {
    const { last } = this.#keys;
    return last !== null && direction(this.#scan.order) * (bound - last.timestamp) > 0;
  }

  async #scanSegment(segment: FoundSegment): Promise<void> {
    const { cold } = this.#source;
    const source = {
      findSegments: async () => ({ segments: [segment], next: null }),
      readBodies: cold.readBodies.bind(cold),
      readFiles: cold.readFiles.bind(cold),
    };
    const { filter, rows } = this.#scan;
    const groups = { filter, rows, pacer: this.#pacer, memory: this.#memory };
    const feed = await ColdFeed.open(source, this.#cold, 1, groups);
    while (feed.bound() !== null) await this.#scanItem(await feed.take(), null);
    this.#hasBegun = true;
    this.#pacer.meter.add(feed.cost);
  }

  async #scanItem(item: ScanItem, batch: ScanPosition | null): Promise<void> {
    const { order, position } = this.#scan;
    const { meter } = this.#pacer;
    this.#hasBegun = true;
    meter.add(WORK.item);
    if (!mayContainRow(order, item, position, this.#keys.last)) {
      meter.add(item.loadedBytes);
      return;
    }
    this.#memory.renew();
    const lines = await openItem(item, this.#source.report);
    if (lines === null) return;
    this.scanned += item.count;
    const { projectId } = lines;
    const damaged: number[] = [];
    const matcher = this.#matcher;
    const wanted: Wanted = (timestamp, index) => {
      if (!item.isWhole && !lines.isVisible(index)) return false;
      const key = { timestamp, seq: lines.seqAt(index), projectId };
      return isBehind(order, position, key) && this.#keys.accepts(key);
    };
    const steps = matcher.steps(
      lines.pieces(wanted),
      wanted,
      (match) => {
        const seq = lines.seqAt(match.index);
        if (!matcher.reads && !matcher.isEntry(match)) damaged.push(seq);
        else this.#keys.add({ timestamp: match.timestamp, seq, projectId, batch });
        meter.add(WORK.row);
      },
      (index) => damaged.push(lines.seqAt(index)),
      lines,
    );
    for (const _ of readable(steps, matcher, item, this.#source.report)) {
      this.#memory.renew();
      await this.#pacer.pause();
    }
    lines.close?.();
    reportEntries(this.#source.report, projectId, damaged);
    await this.#pacer.pause();
  }
}

/** The first keys of an order, without duplicates. */
class FirstKeys {
  readonly #order: Order;
  readonly #capacity: number;
  readonly #keys: FoundKey[];

  constructor(order: Order, capacity: number, keys: readonly FoundKey[]) {
    this.#order = order;
    this.#capacity = capacity;
    this.#keys = [...keys].sort((a, b) => compareRows(order, a, b));
  }

  get keys(): readonly FoundKey[] {
    return this.#keys;
  }

  /** The last key if the list is full, otherwise `null`. */
  get last(): FoundKey | null {
    return this.#keys[this.#capacity - 1] ?? null;
  }

  accepts(key: Omit<FoundKey, "batch">): boolean {
    const { last } = this;
    return last === null || compareRows(this.#order, key, last) < 0;
  }

  /** Adds a key that was accepted. */
  add(key: FoundKey): void {
    const at = this.#keys.findIndex((known) => compareRows(this.#order, known, key) >= 0);
    const next = this.#keys[at];
    if (next === undefined) this.#keys.push(key);
    else if (compareRows(this.#order, next, key) !== 0) this.#keys.splice(at, 0, key);
    this.#keys.length = Math.min(this.#keys.length, this.#capacity);
  }
}
