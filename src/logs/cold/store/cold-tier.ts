import { type Bucket, bucketOf, type FileRange } from "../../../platform/bucket.ts";
import { countBlocks } from "../filter/block-filter.ts";
import type { BodyRange, EncodedSegment, SegmentBody, SegmentKey, SegmentMeta } from "../format/segment.ts";
import { type Left, withoutExcluded } from "./filter-lookup.ts";
import { comparePositions, type SegmentPage, type SegmentPosition, type SegmentSelection } from "./selection.ts";
import { readCached } from "./small-ranges.ts";
import {
  type ColdDatabases,
  coldDatabasesOf,
  FIRST_DATABASE,
  hasSegments,
  LegacySegments,
  type Segments,
  segmentsIn,
} from "./sources.ts";
import type { CountedSegment, FoundSegment, SegmentStore } from "./store.ts";
import type { ProjectCoverage, SegmentTotals, StoredCover, StoredRange, Watermark } from "./writer.ts";

/**
 * The cold tier: the segments in `COLD_DB` and the databases after it, and the legacy segments in `DB`. No range is in two
 * databases, and every read merges them in its own order. Only workspaces that may have legacy segments cause queries on `DB`.
 */
export class ColdTier {
  /** The database that ranges are written to. */
  readonly #segments: Segments;
  /** All databases but that of legacy segments. */
  readonly #current: readonly (Segments & { name: string })[];
  readonly #legacy: LegacySegments;
  readonly #bucket: Bucket | null;
  /** Names of the databases that the workspace object has written to; `null` if it has not told. */
  #written: readonly string[] | null = null;

  /** @param target name of the database that ranges are written to */
  constructor(databases: ColdDatabases, target = FIRST_DATABASE) {
    const all = coldDatabasesOf(databases).map(({ name, db }) => ({ name, ...segmentsIn(db) }));
    const written = all.find(({ name }) => name === target);
    if (written === undefined) throw new Error("A database of segments is not bound.");
    this.#segments = written;
    this.#current = all;
    this.#legacy = new LegacySegments(databases.DB);
    this.#bucket = bucketOf(databases);
  }

  /**
   * Leaves out databases without segments of the workspace. A database that its object has not written to may have some since
   * a recovery, so it is asked once a minute.
   * @param written names of the databases that the object had written to when it gave the watermarks of this read; `undefined`
   * from an object of an older version
   */
  restrictTo(written: readonly string[] | undefined): void {
    this.#written = written ?? null;
  }

  /** Bytes of the database that ranges are written to, after the last write; 0 before. */
  get databaseBytes(): number {
    return this.#segments.writer.databaseBytes;
  }

  /**
   * Like `SegmentWriter.insertSegments`. Does not insert a range that an earlier version stored in `DB` without recording
   * that it had.
   */
  async insertSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark = (segments[0]?.firstSeq ?? 1) - 1,
  ): Promise<StoredRange> {
    const { writer } = this.#segments;
    const legacy = await this.#legacy.of(workspaceId);
    const range = rangeOf(segments, watermark);
    if (legacy === null || range === null) return writer.insertSegments(workspaceId, segments, watermark);
    const stored = await legacy.writer.totalsOfRange(workspaceId, range);
    if (stored.segments === 0) return writer.insertSegments(workspaceId, segments, watermark);
    return { ...sum(stored, await writer.totalsOfRange(workspaceId, range)), files: [] };
  }

  /** Like `SegmentWriter.replaceSegments`. */
  async replaceSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark: number,
    now: number,
  ): Promise<StoredRange> {
    const legacy = await this.#legacy.of(workspaceId);
    const range = rangeOf(segments, watermark);
    // After a crash between the two statements only the object holds the range, and the flush repeats the call.
    if (legacy !== null && range !== null) await legacy.writer.deleteRange(workspaceId, range);
    return this.#segments.writer.replaceSegments(workspaceId, segments, watermark, now);
  }

  /** Like `SegmentWriter.noteFiles`. */
  noteFiles(workspaceId: string, files: readonly string[], now: number): Promise<void> {
    return this.#segments.writer.noteFiles(workspaceId, files, now);
  }

  /** Also applies the filters of merged segments in the bucket. */
  async findSegments(selection: SegmentSelection): Promise<SegmentPage<Left<FoundSegment>>> {
    const page = await this.#merged(selection, (store) => store.findSegments(selection));
    if (this.#bucket === null || selection.tests.length === 0) return page;
    return { ...page, segments: await withoutExcluded(this.#bucket, page.segments, selection.tests, countBlocks) };
  }

  readLevels(selection: SegmentSelection): Promise<SegmentPage<CountedSegment>> {
    return this.#merged(selection, (store) => store.readLevels(selection));
  }

  readSummaries(selection: SegmentSelection): Promise<SegmentPage<CountedSegment>> {
    return this.#merged(selection, (store) => store.readSummaries(selection));
  }

  /** Merges a page of each database in the order of the selection. */
  async #merged<S extends SegmentPosition>(
    { workspaceId, order }: SegmentSelection,
    read: (store: SegmentStore) => Promise<SegmentPage<S>>,
  ): Promise<SegmentPage<S>> {
    const pages = await this.#all(workspaceId, ({ store }) => read(store));
    const [only] = pages;
    if (only !== undefined && pages.length === 1) return only;
    const compare = (a: SegmentPosition, b: SegmentPosition) => comparePositions(order, a, b);
    // A page lacks what comes after its `next`, so the merged page ends at the earliest of all.
    const [next = null] = pages.flatMap((page) => page.next ?? []).sort(compare);
    const segments = pages.flatMap((page) => page.segments).sort(compare);
    return { segments: next ? segments.filter((segment) => compare(segment, next) <= 0) : segments, next };
  }

  /** Like `SegmentStore.segmentsBySeq`. */
  async segmentsBySeq(
    workspaceId: string,
    projectId: string,
    range: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
    readAt?: number,
  ): Promise<SegmentMeta[]> {
    const pages = await this.#all(workspaceId, ({ store }) =>
      store.segmentsBySeq(workspaceId, projectId, range, after, limit, readAt),
    );
    const bySeq = (a: SegmentKey, b: SegmentKey) => a.firstSeq - b.firstSeq || a.part - b.part;
    return pages.length === 1 ? (pages[0] ?? []) : pages.flat().sort(bySeq).slice(0, limit);
  }

  /** Like `SegmentStore.readBodies`. */
  async readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]> {
    const found = await this.#all(workspaceId, ({ store }) => store.readBodies(workspaceId, ranges));
    // All databases stop at the same range, because only the sizes of the ranges decide how many are read.
    const [first = []] = found;
    return first.map((_, index) => found.map((bodies) => bodies[index] ?? null).find((body) => body !== null) ?? null);
  }

  /** Reads ranges of segments' files. @returns the bytes of each range, in order, or `null` if its file does not exist */
  async readFiles(ranges: readonly FileRange[]): Promise<(Uint8Array | null)[]> {
    if (this.#bucket === null) throw new Error("Segments have files, but there is no bucket.");
    return readCached(this.#bucket, ranges);
  }

  /** Like `SegmentWriter.usageUpTo`. */
  async usageUpTo(workspaceId: string, watermarks: readonly Watermark[]): Promise<SegmentTotals> {
    const totals = await this.#all(workspaceId, ({ writer }) => writer.usageUpTo(workspaceId, watermarks));
    return totals.reduce(sum);
  }

  /** Like `SegmentWriter.covers`. */
  async covers(workspaceId: string, projectId: string, range: { from: number; to: number }): Promise<StoredCover[]> {
    const found = await this.#all(workspaceId, ({ writer }) => writer.covers(workspaceId, projectId, range));
    return found.flat().sort((a, b) => a.firstSeq - b.firstSeq);
  }

  /** Like `SegmentWriter.coverageOf`, by project id. */
  async coverageOf(workspaceId: string, projectIds: readonly string[]): Promise<Map<string, ProjectCoverage>> {
    const found = await this.#all(workspaceId, ({ writer }) => writer.coverageOf(workspaceId, projectIds));
    const projects = new Map<string, ProjectCoverage>();
    for (const each of found.flat()) {
      const other = projects.get(each.projectId);
      projects.set(each.projectId, other ? joined(each, other) : each);
    }
    return projects;
  }

  /** Queries every database of segments and, if the workspace may have legacy segments, `DB`, which is the last. */
  async #all<T>(workspaceId: string, query: (segments: Segments) => Promise<T>): Promise<T[]> {
    const legacy = await this.#legacy.of(workspaceId);
    const written = this.#written;
    const current =
      written === null
        ? this.#current
        : await filterAsync(this.#current, ({ name, db }) => written.includes(name) || hasSegments(db, workspaceId));
    return Promise.all((legacy ? [...current, legacy] : current).map(query));
  }
}

async function filterAsync<T>(items: readonly T[], keeps: (item: T) => boolean | Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(items.map(keeps));
  return items.filter((_, index) => kept[index]);
}

function rangeOf(segments: readonly EncodedSegment[], watermark: number) {
  const [first] = segments;
  if (first === undefined) return null;
  const to = segments.reduce((last, { lastSeq }) => Math.max(last, lastSeq), 0);
  return { projectId: first.projectId, from: watermark + 1, to };
}

function joined(a: ProjectCoverage, b: ProjectCoverage): ProjectCoverage {
  return {
    projectId: a.projectId,
    segments: a.segments + b.segments,
    entries: a.entries + b.entries,
    firstSeq: Math.min(a.firstSeq, b.firstSeq),
    lastSeq: Math.max(a.lastSeq, b.lastSeq),
  };
}

function sum(a: SegmentTotals, b: SegmentTotals): SegmentTotals {
  return { segments: a.segments + b.segments, entries: a.entries + b.entries, bytes: a.bytes + b.bytes };
}
