import type { D1Database } from "@cloudflare/workers-types";
import type { BodyRange, EncodedSegment, SegmentBody, SegmentKey, SegmentMeta } from "../format/segment.ts";
import { comparePositions, type SegmentPage, type SegmentPosition, type SegmentSelection } from "./selection.ts";
import {
  type CountedSegment,
  type FoundSegment,
  type ProjectCoverage,
  SegmentStore,
  type SegmentTotals,
  type Watermark,
} from "./store.ts";

// Named here, so that pure modules tested on Node may name it.

/** What this isolate has found out about a directory: facts that no later write changes. */
interface Facts {
  /** No workspace has a segment there. */
  isEmpty: boolean;
  /** Workspaces without a segment there. */
  without: Set<string>;
}

/** Workspaces remembered at most: 60 bytes each. Beyond it all of them are asked for again. */
const MAX_REMEMBERED = 4096;

let facts = new WeakMap<D1Database, Facts>();

/**
 * The segments that earlier versions stored in the directory's database. Once the trigger `segments_closed` is there, none
 * is added, so "this workspace has none" stays true and is remembered; without the trigger nothing is.
 */
export class LegacySegments {
  readonly #db: D1Database;
  readonly #store: SegmentStore;
  readonly #facts: Facts;

  constructor(db: D1Database) {
    this.#db = db;
    this.#store = new SegmentStore(db);
    const known = facts.get(db) ?? { isEmpty: false, without: new Set() };
    facts.set(db, known);
    this.#facts = known;
  }

  /** The store to ask for a workspace's earlier segments; null where it has none. */
  async of(workspaceId: string): Promise<SegmentStore | null> {
    const { isEmpty, without } = this.#facts;
    if (isEmpty || without.has(workspaceId)) return null;
    const found = await this.#db
      .prepare(
        `SELECT EXISTS (SELECT 1 FROM segments WHERE workspace_id = ?) AS hasOwn, EXISTS (SELECT 1 FROM segments) AS hasAny,
           EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'trigger' AND name = 'segments_closed') AS isClosed`,
      )
      .bind(workspaceId)
      .first<{ hasOwn: number; hasAny: number; isClosed: number }>();
    if (found === null || found.hasOwn === 1) return this.#store;
    if (found.isClosed === 1) this.#remember(workspaceId, found.hasAny === 0);
    return null;
  }

  #remember(workspaceId: string, isEmpty: boolean): void {
    const known = this.#facts;
    known.isEmpty ||= isEmpty;
    if (known.without.size >= MAX_REMEMBERED) known.without.clear();
    known.without.add(workspaceId);
  }
}

/** For tests, which put segments where no version puts them any more. */
export function resetLegacySegmentCache(): void {
  facts = new WeakMap();
}

// Named here, so that pure modules tested on Node may name the tier.

/** The bindings that segments lie behind. */
export interface ColdDatabases {
  /** The directory, which held the segments of earlier versions too. Its segments only become fewer. */
  DB: D1Database;
  COLD_DB: D1Database;
}

/**
 * The cold tier: the segments in `COLD_DB`, and those that an earlier version left in `DB`. Both are one tier: no range is
 * in both, and every read merges them in its own order. `DB` is asked only for workspaces that may have segments there.
 */
export class ColdTier {
  readonly #store: SegmentStore;
  readonly #earlier: LegacySegments;

  constructor({ DB, COLD_DB }: ColdDatabases) {
    this.#store = new SegmentStore(COLD_DB);
    this.#earlier = new LegacySegments(DB);
  }

  /**
   * As `SegmentStore.insertSegments`. A range whose segments an earlier version stored in `DB`, before it could note that,
   * is not stored again.
   */
  async insertSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark = (segments[0]?.firstSeq ?? 1) - 1,
  ): Promise<SegmentTotals> {
    const earlier = await this.#earlier.of(workspaceId);
    const range = rangeOf(segments, watermark);
    if (earlier === null || range === null) return this.#store.insertSegments(workspaceId, segments, watermark);
    const there = await earlier.totalsOfRange(workspaceId, range);
    if (there.segments === 0) return this.#store.insertSegments(workspaceId, segments, watermark);
    return sum(there, await this.#store.totalsOfRange(workspaceId, range));
  }

  /** As `SegmentStore.replaceSegments`. */
  async replaceSegments(
    workspaceId: string,
    segments: readonly EncodedSegment[],
    watermark: number,
  ): Promise<SegmentTotals> {
    const earlier = await this.#earlier.of(workspaceId);
    const range = rangeOf(segments, watermark);
    // A crash in between leaves the range in the object alone, and the call is repeated.
    if (earlier !== null && range !== null) await earlier.deleteRange(workspaceId, range);
    return this.#store.replaceSegments(workspaceId, segments, watermark);
  }

  findSegments(selection: SegmentSelection): Promise<SegmentPage<FoundSegment>> {
    return this.#walk(selection, (store) => store.findSegments(selection));
  }

  readLevels(selection: SegmentSelection): Promise<SegmentPage<CountedSegment>> {
    return this.#walk(selection, (store) => store.readLevels(selection));
  }

  readSummaries(selection: SegmentSelection): Promise<SegmentPage<CountedSegment>> {
    return this.#walk(selection, (store) => store.readSummaries(selection));
  }

  async #walk<S extends SegmentPosition>(
    { workspaceId, order }: SegmentSelection,
    read: (store: SegmentStore) => Promise<SegmentPage<S>>,
  ): Promise<SegmentPage<S>> {
    const earlier = await this.#earlier.of(workspaceId);
    if (earlier === null) return read(this.#store);
    const pages = await Promise.all([read(this.#store), read(earlier)]);
    const compare = (a: SegmentPosition, b: SegmentPosition) => comparePositions(order, a, b);
    // Behind its place neither page says anything, so the merged page ends at the nearer one.
    const [next = null] = pages.flatMap((page) => page.next ?? []).sort(compare);
    const segments = pages.flatMap((page) => page.segments).sort(compare);
    return { segments: next ? segments.filter((segment) => compare(segment, next) <= 0) : segments, next };
  }

  /** As `SegmentStore.segmentsBySeq`. */
  async segmentsBySeq(
    workspaceId: string,
    projectId: string,
    range: { from: number; to: number },
    after: SegmentKey | null,
    limit: number,
  ): Promise<SegmentMeta[]> {
    const pages = await this.#both(workspaceId, (store) =>
      store.segmentsBySeq(workspaceId, projectId, range, after, limit),
    );
    const bySeq = (a: SegmentKey, b: SegmentKey) => a.firstSeq - b.firstSeq || a.part - b.part;
    return pages.length === 1 ? (pages[0] ?? []) : pages.flat().sort(bySeq).slice(0, limit);
  }

  /** As `SegmentStore.readBodies`. */
  async readBodies(workspaceId: string, ranges: readonly BodyRange[]): Promise<(SegmentBody | null)[]> {
    const [bodies = [], earlier = []] = await this.#both(workspaceId, (store) => store.readBodies(workspaceId, ranges));
    // Both stop at the same range: how many are read depends on their sizes alone.
    return bodies.map((body, index) => body ?? earlier[index] ?? null);
  }

  /** As `SegmentStore.usageUpTo`. */
  async usageUpTo(workspaceId: string, watermarks: readonly Watermark[]): Promise<SegmentTotals> {
    const totals = await this.#both(workspaceId, (store) => store.usageUpTo(workspaceId, watermarks));
    return totals.reduce(sum);
  }

  /** As `SegmentStore.totalsOfRanges`. */
  async totalsOfRanges(
    workspaceId: string,
    projectId: string,
    ranges: readonly { firstSeq: number; lastSeq: number }[],
  ): Promise<SegmentTotals[]> {
    const [totals = [], earlier = []] = await this.#both(workspaceId, (store) =>
      store.totalsOfRanges(workspaceId, projectId, ranges),
    );
    return totals.map((total, index) => sum(total, earlier[index] ?? { segments: 0, entries: 0, bytes: 0 }));
  }

  /** As `SegmentStore.coverageOf`, by project. */
  async coverageOf(workspaceId: string, projectIds: readonly string[]): Promise<Map<string, ProjectCoverage>> {
    const found = await this.#both(workspaceId, (store) => store.coverageOf(workspaceId, projectIds));
    const projects = new Map<string, ProjectCoverage>();
    for (const each of found.flat()) {
      const other = projects.get(each.projectId);
      projects.set(each.projectId, other ? joined(each, other) : each);
    }
    return projects;
  }

  /** Deletes some of a project's segments; to be called until it gives 0. */
  deleteOfProject(workspaceId: string, projectId: string): Promise<number> {
    return this.#delete(workspaceId, (store) => store.deleteOfProject(workspaceId, projectId));
  }

  deleteOfWorkspace(workspaceId: string): Promise<number> {
    return this.#delete(workspaceId, (store) => store.deleteOfWorkspace(workspaceId));
  }

  /** Deletes some of a workspace's segments whose newest entry is older than `cutoff`, epoch milliseconds. */
  deleteOlder(workspaceId: string, cutoff: number): Promise<number> {
    return this.#delete(workspaceId, (store) => store.deleteOlder(workspaceId, cutoff));
  }

  async #delete(workspaceId: string, some: (store: SegmentStore) => Promise<number>): Promise<number> {
    const earlier = await this.#earlier.of(workspaceId);
    return (earlier && (await some(earlier))) || some(this.#store);
  }

  /** What each store answers; that of `COLD_DB` first. */
  async #both<T>(workspaceId: string, ask: (store: SegmentStore) => Promise<T>): Promise<T[]> {
    const earlier = await this.#earlier.of(workspaceId);
    return Promise.all((earlier ? [this.#store, earlier] : [this.#store]).map(ask));
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
  /** All of its entries must be there. False: the retention may have taken some of its segments, and never the last. */
  isWhole: boolean;
}

/** A range of which the cold tier lacks entries. */
export interface MissingRange {
  firstSeq: number;
  lastSeq: number;
  /** Entries of it that are there. */
  stored: number;
}

/** Those of the ranges that the cold tier does not hold as it must. */
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
    const isThere = isWhole ? entries === lastSeq - firstSeq + 1 : segments > 0;
    return isThere ? [] : [{ firstSeq, lastSeq, stored: entries }];
  });
}
