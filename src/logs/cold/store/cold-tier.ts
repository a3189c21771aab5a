import type { D1Database } from "@cloudflare/workers-types";
import type { BodyRange, EncodedSegment, SegmentBody, SegmentKey, SegmentMeta } from "../format/segment.ts";
import { comparePositions, type SegmentPage, type SegmentPosition, type SegmentSelection } from "./selection.ts";
import { type CountedSegment, type FoundSegment, SegmentStore } from "./store.ts";
import { type ProjectCoverage, type SegmentTotals, SegmentWriter, type StoredRange, type Watermark } from "./writer.ts";

/** The segments of one database. */
interface Segments {
  store: SegmentStore;
  writer: SegmentWriter;
}

function segmentsIn(db: D1Database): Segments {
  return { store: new SegmentStore(db), writer: new SegmentWriter(db) };
}

/** Facts about legacy segments that this isolate has read and that no later write changes. */
interface LegacyFacts {
  /** Whether no workspace has a legacy segment. */
  isEmpty: boolean;
  /** Workspaces without a legacy segment. */
  without: Set<string>;
}

/** Maximum number of cached workspaces, 60 bytes each. A full cache is cleared. */
const MAX_CACHED = 4096;

let legacyFacts = new WeakMap<D1Database, LegacyFacts>();

/**
 * The segments that versions before `COLD_DB` wrote to `DB`. The trigger `segments_closed` forbids inserts, so a workspace
 * without legacy segments stays without them and is cached. Without the trigger nothing is cached.
 */
class LegacySegments {
  readonly #db: D1Database;
  readonly #segments: Segments;
  readonly #facts: LegacyFacts;

  constructor(db: D1Database) {
    this.#db = db;
    this.#segments = segmentsIn(db);
    const cached = legacyFacts.get(db) ?? { isEmpty: false, without: new Set() };
    legacyFacts.set(db, cached);
    this.#facts = cached;
  }

  /** @returns `null` if the workspace has no legacy segments */
  async of(workspaceId: string): Promise<Segments | null> {
    const { isEmpty, without } = this.#facts;
    if (isEmpty || without.has(workspaceId)) return null;
    const found = await this.#db
      .prepare(
        `SELECT EXISTS (SELECT 1 FROM segments WHERE workspace_id = ?) AS hasOwn, EXISTS (SELECT 1 FROM segments) AS hasAny,
           EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'segments_closed') AS isClosed`,
      )
      .bind(workspaceId)
      .first<{ hasOwn: number; hasAny: number; isClosed: number }>();
    if (found === null || found.hasOwn === 1) return this.#segments;
    if (found.isClosed === 1) this.#cache(workspaceId, found.hasAny === 0);
    return null;
  }

  #cache(workspaceId: string, isEmpty: boolean): void {
    const facts = this.#facts;
    facts.isEmpty ||= isEmpty;
    if (facts.without.size >= MAX_CACHED) facts.without.clear();
    facts.without.add(workspaceId);
  }
}

/** Clears the cache for tests, which insert legacy segments. */
export function resetLegacySegmentCache(): void {
  legacyFacts = new WeakMap();
}

/** The bindings of the databases that hold segments. */
export interface ColdDatabases {
  /** The directory. It holds legacy segments; none are added. */
  DB: D1Database;
  COLD_DB: D1Database;
}

/** A bounded step of a deletion. */
export interface Deletion {
  /** Whether nothing was left to delete. If not, the caller repeats the step. */
  isDone: boolean;
}

/**
 * The cold tier: the segments in `COLD_DB` and the legacy segments in `DB`. No range is in both, and every read merges them
 * in its own order. Only workspaces that may have legacy segments cause queries on `DB`.
 */
export class ColdTier {
  readonly #segments: Segments;
  readonly #legacy: LegacySegments;

  constructor({ DB, COLD_DB }: ColdDatabases) {
    this.#segments = segmentsIn(COLD_DB);
    this.#legacy = new LegacySegments(DB);
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

  findSegments(selection: SegmentSelection): Promise<SegmentPage<FoundSegment>> {
    return this.#merged(selection, (store) => store.findSegments(selection));
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
    const legacy = await this.#legacy.of(workspaceId);
    if (legacy === null) return read(this.#segments.store);
    const pages = await Promise.all([read(this.#segments.store), read(legacy.store)]);
    const compare = (a: SegmentPosition, b: SegmentPosition) => comparePositions(order, a, b);
    // A page lacks what comes after its `next`, so the merged page ends at the earlier of the two.
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
  ): Promise<SegmentMeta[]> {
    const pages = await this.#both(workspaceId, ({ store }) =>
      store.segmentsBySeq(workspaceId, projectId, range, after, limit),
    );
    const bySeq = (a: SegmentKey, b: SegmentKey) => a.firstSeq - b.firstSeq || a.part - b.part;
    return pages.length === 1 ? (pages[0] ?? []) : pages.flat().sort(bySeq).slice(0, limit);
  }

  /** Like `SegmentStore.readBodies`. */
  async readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]> {
    const [bodies = [], legacy = []] = await this.#both(workspaceId, ({ store }) =>
      store.readBodies(workspaceId, ranges),
    );
    // Both databases stop at the same range, because only the sizes of the ranges decide how many are read.
    return bodies.map((body, index) => body ?? legacy[index] ?? null);
  }

  /** Like `SegmentWriter.usageUpTo`. */
  async usageUpTo(workspaceId: string, watermarks: readonly Watermark[]): Promise<SegmentTotals> {
    const totals = await this.#both(workspaceId, ({ writer }) => writer.usageUpTo(workspaceId, watermarks));
    return totals.reduce(sum);
  }

  /** Like `SegmentWriter.totalsOfRanges`. */
  async totalsOfRanges(
    workspaceId: string,
    projectId: string,
    ranges: readonly { firstSeq: number; lastSeq: number }[],
  ): Promise<SegmentTotals[]> {
    const [totals = [], legacy = []] = await this.#both(workspaceId, ({ writer }) =>
      writer.totalsOfRanges(workspaceId, projectId, ranges),
    );
    return totals.map((total, index) => sum(total, legacy[index] ?? { segments: 0, entries: 0, bytes: 0 }));
  }

  /** Like `SegmentWriter.coverageOf`, by project id. */
  async coverageOf(workspaceId: string, projectIds: readonly string[]): Promise<Map<string, ProjectCoverage>> {
    const found = await this.#both(workspaceId, ({ writer }) => writer.coverageOf(workspaceId, projectIds));
    const projects = new Map<string, ProjectCoverage>();
    for (const each of found.flat()) {
      const other = projects.get(each.projectId);
      projects.set(each.projectId, other ? joined(each, other) : each);
    }
    return projects;
  }

  /** Deletes some of a project's segments. */
  deleteOfProject(workspaceId: string, projectId: string): Promise<Deletion> {
    return this.#delete(workspaceId, (writer) => writer.deleteOfProject(workspaceId, projectId));
  }

  deleteOfWorkspace(workspaceId: string): Promise<Deletion> {
    return this.#delete(workspaceId, (writer) => writer.deleteOfWorkspace(workspaceId));
  }

  /** Deletes some of a workspace's segments whose newest entry is older than `cutoff`, epoch milliseconds. */
  deleteOlder(workspaceId: string, cutoff: number): Promise<Deletion> {
    return this.#delete(workspaceId, (writer) => writer.deleteOlder(workspaceId, cutoff));
  }

  async #delete(workspaceId: string, deleteSome: (writer: SegmentWriter) => Promise<number>): Promise<Deletion> {
    const legacy = await this.#legacy.of(workspaceId);
    const rows = (legacy && (await deleteSome(legacy.writer))) || (await deleteSome(this.#segments.writer));
    return { isDone: rows === 0 };
  }

  /** Queries `COLD_DB` and, if the workspace may have legacy segments, `DB`. @returns the result of `COLD_DB` first */
  async #both<T>(workspaceId: string, query: (segments: Segments) => Promise<T>): Promise<T[]> {
    const legacy = await this.#legacy.of(workspaceId);
    return Promise.all((legacy ? [this.#segments, legacy] : [this.#segments]).map(query));
  }
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

/** A range that the object has moved to the cold tier. */
export interface ExpectedRange {
  firstSeq: number;
  lastSeq: number;
  /** Whether all its entries must be stored. If not, the retention may have deleted some segments, but not the last. */
  isWhole: boolean;
}

/** A range with entries that are not in the cold tier. */
export interface MissingRange {
  firstSeq: number;
  lastSeq: number;
  /** Number of its entries that are stored. */
  stored: number;
}

/** Returns the ranges that the cold tier does not hold completely. */
export async function missingRanges(
  tier: Pick<ColdTier, "totalsOfRanges">,
  workspaceId: string,
  projectId: string,
  ranges: readonly ExpectedRange[],
): Promise<MissingRange[]> {
  if (ranges.length === 0) return [];
  const totals = await tier.totalsOfRanges(workspaceId, projectId, ranges);
  return ranges.flatMap(({ firstSeq, lastSeq, isWhole }, index) => {
    const { entries = 0, segments = 0 } = totals[index] ?? {};
    const isStored = isWhole ? entries === lastSeq - firstSeq + 1 : segments > 0;
    return isStored ? [] : [{ firstSeq, lastSeq, stored: entries }];
  });
}
