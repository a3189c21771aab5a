import { decodeBody, encodeBody, type RecentBatch } from "../../../src/logs/batch.ts";
import type { EncodedSegment } from "../../../src/logs/cold/format/segment.ts";
import type { SegmentPage, SegmentSelection } from "../../../src/logs/cold/store/selection.ts";
import { categoryBit, type Entry, LEVELS, levelBit, type StoredEntry } from "../../../src/logs/entry.ts";
import { IdCollector, mayContainIds } from "../../../src/logs/id-filter.ts";
import type { ColdSource } from "../../../src/logs/query/cold-feed.ts";
import type { MovedSource } from "../../../src/logs/query/moved-feed.ts";
import type { RecentScan, RecentSource } from "../../../src/logs/query/recent-feed.ts";
import { pageTexts, type QueryPage } from "../../../src/logs/query/run-query.ts";
import type { LogSource } from "../../../src/logs/query/tiers.ts";
import type { CountedSegment, StatsSource } from "../../../src/logs/stats/count-entries.ts";
import { packSummaries, type RecentCountPage, type RecentCountScan } from "../../../src/logs/stats/recent-counts.ts";
import { countsOf, idFiltersOf, SummaryBuilder } from "../../../src/logs/summary.ts";
import { encodeSegments } from "../../support/line-blocks.ts";
import { segmentFiles } from "./segment-files.ts";

/** An entry with its time in milliseconds, as tests create them. */
export type TestEntry = Omit<Entry, "timestamp"> & { timestamp: number };

/** A page as its client parses it. */
export type AnsweredPage = Omit<QueryPage, "rows"> & { logs: StoredEntry[] };

export function answered(page: QueryPage): AnsweredPage {
  const text = Buffer.from([...pageTexts(page)].join(""), "latin1").toString("utf8");
  // SAFETY: `pageTexts` writes this shape; the tests compare its members.
  return JSON.parse(text) as AnsweredPage;
}

export interface TestRow {
  entry: TestEntry;
  projectId: string;
  seq: number;
  commit: number;
}

/** Members in the order in which ingest writes them. */
export function lineOf({ timestamp, level, category, type, message, ...rest }: TestEntry): string {
  const { session, traceId, spanId, service, host, data } = rest;
  const time = new Date(timestamp).toISOString();
  const own = { session, traceId, spanId, service, host, data };
  return JSON.stringify({ timestamp: time, level, category, type, message, ...own });
}

export function bodyOf(entries: readonly TestEntry[]): Uint8Array {
  return new TextEncoder().encode(entries.map(lineOf).join("\n"));
}

/** Kinds of segment: blocks of lines, or a Parquet file in the row or in the bucket. */
export type SegmentKind = "lines" | "inline" | "bucket";
export const SEGMENT_KINDS: readonly SegmentKind[] = ["lines", "inline", "bucket"];

type TestBatch = RecentBatch & { levelMask: number; categoryMask: number; summary: Uint8Array };

/** A model of the workspace object and D1 without SQL: everything in memory, selected and sorted directly. */
export class TestStore {
  readonly scope: string;
  readonly rows: TestRow[] = [];
  readonly #batches: TestBatch[] = [];
  readonly #lastSeq = new Map<string, number>();
  readonly #flushed = new Map<string, number>();
  readonly #segments: EncodedSegment[] = [];
  /** Commit numbers of batches that were set aside. */
  readonly #quarantined = new Set<number>();
  /** The bucket. */
  readonly files = new Map<string, Uint8Array>();
  calls: RecentScan[] = [];
  /** Segments scanned by all reads. */
  scanned = 0;
  /** The retention cutoff in epoch milliseconds. */
  oldest = 0;
  /** Called before each page of recent batches. */
  beforePage: () => void = () => {};

  constructor(scope = "ws_000000000001") {
    this.scope = scope;
  }

  get lastCommit(): number {
    return this.#batches.length;
  }

  add(projectId: string, entries: readonly TestEntry[]): void {
    const firstSeq = (this.#lastSeq.get(projectId) ?? 0) + 1;
    const commit = this.#batches.length + 1;
    const times = entries.map(({ timestamp }) => timestamp);
    this.#lastSeq.set(projectId, firstSeq + entries.length - 1);
    entries.forEach((entry, index) => {
      this.rows.push({ entry, projectId, seq: firstSeq + index, commit });
    });
    this.#batches.push({
      commit,
      projectId,
      firstSeq,
      count: entries.length,
      minTimestamp: Math.min(...times),
      maxTimestamp: Math.max(...times),
      receivedAt: 1_800_000_000_000 + commit,
      levelMask: entries.reduce((mask, { level }) => mask | levelBit(level), 0),
      categoryMask: entries.reduce((mask, { category }) => mask | categoryBit(category), 0),
      // Every fourth batch is like those of a version without id filters.
      summary: summaryOf(entries, commit % 4 === 0 ? null : idsOf(entries)),
      ...encodeBody(bodyOf(entries)),
    });
  }

  /**
   * Moves the oldest batches of a project to the cold tier.
   * @param kind of the segments
   * @param groupRows entries of a row group
   */
  flush(projectId: string, count: number, kind: SegmentKind = "lines", groupRows = 2): void {
    const done = this.#flushed.get(projectId) ?? 0;
    const batches = this.#batches
      .filter((batch) => batch.projectId === projectId && batch.firstSeq > done)
      .slice(0, count)
      .map((batch) => ({ ...batch, body: decodeBody(batch.encoding, batch.body) }));
    const [first, last] = [batches[0], batches.at(-1)];
    if (!first || !last) return;
    const range = { firstSeq: first.firstSeq, lastSeq: last.firstSeq + last.count - 1 };
    if (kind === "lines") this.#segments.push(...encodeSegments(projectId, batches, range));
    else {
      const isInline = kind === "inline";
      const options = { groupRows, isInline };
      for (const { segment, bytes } of segmentFiles(this.scope, projectId, batches, range, options)) {
        this.#segments.push(segment);
        if (segment.file !== null) this.files.set(segment.file, bytes);
      }
    }
    this.#flushed.set(projectId, range.lastSeq);
  }

  /** Both tiers. */
  logs(pageBatches: number): LogSource {
    return {
      workspaceId: this.scope,
      recent: this.source(pageBatches),
      cold: this.cold(),
      report: (unreadable) => {
        throw unreadable;
      },
    };
  }

  /** Both tiers, with counts. */
  stats(pageBatches: number): StatsSource {
    const counted = (column: "levels" | "summary") => ({
      max: pageBatches,
      read: async (selection: SegmentSelection): Promise<SegmentPage<CountedSegment>> => {
        const { segments, next } = this.#selectSegments(selection);
        return { segments: segments.map((segment) => ({ ...segment, counts: segment[column] })), next };
      },
    });
    return {
      ...this.logs(pageBatches),
      recentCounts: async (scan) => this.#recentCounts(scan, pageBatches),
      levels: counted("levels"),
      summaries: counted("summary"),
    };
  }

  #recentCounts(scan: RecentCountScan, pageBatches: number): RecentCountPage {
    this.beforePage();
    const asOf = scan.asOf ?? this.lastCommit;
    const order = { ...scan, asOf, order: "asc" as const, position: null, maxBytes: 0 };
    const selected = this.#select(order, asOf)
      .filter(({ commit }) => commit > scan.after)
      .sort((a, b) => a.commit - b.commit);
    const page = selected.slice(0, pageBatches);
    return {
      asOf,
      flushed: this.#watermarks(),
      oldest: this.oldest,
      summaries: packSummaries(page.map(({ summary }) => countsOf(summary))),
      next: selected.length > page.length ? (page.at(-1)?.commit ?? null) : null,
    };
  }

  #watermarks() {
    return [...new Set(this.#batches.map(({ projectId }) => projectId))].map((projectId) => ({
      projectId,
      seq: this.#flushed.get(projectId) ?? 0,
    }));
  }

  #selectSegments(selection: SegmentSelection): SegmentPage<EncodedSegment> {
    const { after, maxScanned, limit } = selection;
    const compare = bySelection(selection);
    const inRange = this.#segments
      .filter((segment) => isInRange(segment, selection) && (!after || compare(segment, after) > 0))
      .sort(compare);
    const position = inRange[maxScanned - 1] ?? null;
    const wanted = inRange.slice(0, maxScanned).filter((segment) => isSelected(segment, selection));
    this.scanned += Math.min(maxScanned, inRange.length);
    const segments = wanted.slice(0, limit);
    return { segments, next: segments.length === limit ? (segments.at(-1) ?? null) : position };
  }

  /** Only the cold tier. */
  cold(): MovedSource {
    return {
      findSegments: async (selection) => {
        const { segments, next } = this.#selectSegments(selection);
        return { segments: segments.map((segment) => ({ ...segment, slots: "" })), next };
      },
      segmentsBySeq: async (_, projectId, { from, to }, after, limit) =>
        this.#segments
          .filter((segment) => segment.projectId === projectId && segment.firstSeq <= to && segment.lastSeq >= from)
          .sort((a, b) => a.firstSeq - b.firstSeq || a.part - b.part)
          .filter(({ firstSeq, part }) => !after || (firstSeq - after.firstSeq || part - after.part) > 0)
          .slice(0, limit),
      readBodies: this.bodies(2),
      readFiles: async (ranges) =>
        ranges.slice(0, 3).map(({ key, start, end }) => {
          const bytes = this.files.get(key);
          return bytes ? new Uint8Array(bytes.subarray(start, end)) : null;
        }),
    };
  }

  /** @param most ranges of one response */
  bodies(most: number): ColdSource["readBodies"] {
    return async (_, ranges) =>
      ranges.slice(0, most).map(({ key, start, end }) => {
        const segment = this.#segments.find(
          ({ projectId, firstSeq, part }) =>
            projectId === key.projectId && firstSeq === key.firstSeq && part === key.part,
        );
        if (!segment) return null;
        const bytes = new Uint8Array(segment.body.subarray(start, end));
        return { batchTable: segment.batchTable, bytes, file: segment.file };
      });
  }

  /** Sets the next batch of a project aside: the watermark rises, and the batch stays in the recent tier. */
  quarantine(projectId: string): void {
    const done = this.#flushed.get(projectId) ?? 0;
    const batch = this.#batches.find((each) => each.projectId === projectId && each.firstSeq > done);
    if (!batch) return;
    this.#quarantined.add(batch.commit);
    this.#flushed.set(projectId, batch.firstSeq + batch.count - 1);
  }

  /** The recent tier of a project by `seq`. @param pageBatches batches of one response */
  bySeq(projectId: string, pageBatches: number) {
    return async ({ after, until }: { after: number; until: number }) => {
      this.beforePage();
      const lastSeq = this.#lastSeq.get(projectId) ?? 0;
      const flushedSeq = this.#flushed.get(projectId) ?? 0;
      const end = Math.min(until, lastSeq);
      const found = this.#batches.filter(
        ({ commit, projectId: own, firstSeq, count }) =>
          own === projectId &&
          (firstSeq > flushedSeq || this.#quarantined.has(commit)) &&
          firstSeq + count - 1 > after &&
          firstSeq <= end,
      );
      const next = found[pageBatches];
      const through = next ? next.firstSeq - 1 : end;
      const batches = found.slice(0, pageBatches).map(copied);
      return { projectId, lastSeq, flushedSeq, oldest: this.oldest, through, batches };
    };
  }

  /** @param pageBatches batches of one response, whatever size is requested */
  source(pageBatches: number): RecentSource {
    return async (scan) => {
      this.calls.push(scan);
      this.beforePage();
      const asOf = scan.asOf ?? this.lastCommit;
      const selected = asOf > this.lastCommit ? [] : this.#select(scan, asOf);
      const { position } = scan;
      const sign = scan.order === "asc" ? 1 : -1;
      const isBehind = (batch: TestBatch) =>
        position === null || sign * (keyOf(scan, batch) - position.timestamp || batch.commit - position.commit) >= 0;
      const first = selected.findIndex(isBehind);
      const at = first < 0 ? selected.length : first;
      // A page of the selected batches, which filters may leave empty.
      const batches = selected
        .slice(at, at + pageBatches)
        .filter(({ summary }) => mayContainIds(idFiltersOf(summary), scan.ids ?? []))
        .map(copied);
      const next = selected[at + pageBatches];
      return {
        asOf,
        lastCommit: this.lastCommit,
        scope: this.scope,
        flushed: this.#watermarks(),
        oldest: this.oldest,
        batches,
        next: next ? { timestamp: keyOf(scan, next), commit: next.commit } : null,
      };
    };
  }

  #select(scan: RecentScan, asOf: number) {
    const sign = scan.order === "asc" ? 1 : -1;
    return this.#batches
      .filter((batch) => batch.commit <= asOf && batch.firstSeq > (this.#flushed.get(batch.projectId) ?? 0))
      .filter((batch) => scan.from === null || batch.maxTimestamp >= scan.from)
      .filter((batch) => scan.to === null || batch.minTimestamp < scan.to)
      .filter((batch) => batch.levelMask & scan.levelMask && batch.categoryMask & scan.categoryMask)
      .sort((a, b) => sign * (keyOf(scan, a) - keyOf(scan, b) || a.commit - b.commit));
  }
}

/** A batch as it comes out of an RPC: the reader frees its copy of the body. */
export function copied<B extends Pick<RecentBatch, "body">>(batch: B): B {
  return { ...batch, body: new Uint8Array(batch.body) };
}

function keyOf({ order }: Pick<RecentScan, "order">, batch: RecentBatch): number {
  return order === "asc" ? batch.minTimestamp : batch.maxTimestamp;
}

function idsOf(entries: readonly TestEntry[]): Uint8Array {
  const ids = new IdCollector();
  for (const entry of entries) ids.addEntry(entry);
  return ids.toFilter();
}

function summaryOf(entries: readonly TestEntry[], ids: Uint8Array | null): Uint8Array {
  const summary = new SummaryBuilder();
  for (const { timestamp, level, category, type } of entries) {
    summary.add(timestamp, LEVELS.indexOf(level), category, type);
  }
  return summary.pack(ids);
}

/** Whether a selection scans a segment. */
function isInRange(segment: EncodedSegment, { projects, from, to }: SegmentSelection): boolean {
  return (
    (projects.size !== 1 || projects.has(segment.projectId)) &&
    (from === null || segment.maxTimestamp >= from) &&
    (to === null || segment.minTimestamp < to)
  );
}

function isSelected(segment: EncodedSegment, selection: SegmentSelection): boolean {
  const { projects, levelMask, categoryMask, asOf, cut } = selection;
  if (asOf !== null && cut !== undefined && segment.maxCommit > asOf !== (cut === "only")) return false;
  return (
    segment.lastSeq <= (projects.get(segment.projectId) ?? 0) &&
    (segment.levelMask & levelMask) !== 0 &&
    (segment.categoryMask & categoryMask) !== 0 &&
    (asOf === null || segment.minCommit <= asOf)
  );
}

type Position = Pick<EncodedSegment, "minTimestamp" | "maxTimestamp" | "projectId" | "firstSeq" | "part">;

function bySelection({ order }: SegmentSelection): (a: Position, b: Position) => number {
  const sign = order === "asc" ? 1 : -1;
  const times = (position: Position) =>
    order === "asc" ? [position.minTimestamp, position.maxTimestamp] : [position.maxTimestamp, position.minTimestamp];
  return (a, b) => {
    const [a1 = 0, a2 = 0] = times(a);
    const [b1 = 0, b2 = 0] = times(b);
    const byProject = a.projectId < b.projectId ? -1 : a.projectId > b.projectId ? 1 : 0;
    return sign * (a1 - b1 || a2 - b2 || byProject || a.firstSeq - b.firstSeq || a.part - b.part);
  };
}
