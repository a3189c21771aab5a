import type { Order } from "../../query/feed.ts";
import { lastVisiblePart } from "../compaction/visibility.ts";
import type { TokenTest } from "../filter/token-tests.ts";
import type { SegmentKey } from "../format/segment.ts";
import { BIT_TABLES, filterCondition } from "./filter-condition.ts";
import { CURRENT } from "./writer.ts";

/** Selects segments by their metadata and filters, in pages. */

/** The conditions on metadata by which segments are chosen. */
export interface SegmentSelection {
  workspaceId: string;
  /** The projects searched, each with its watermark. Entries after the watermark are still in the workspace object. */
  projects: ReadonlyMap<string, number>;
  /** Epoch milliseconds. Chooses segments that may hold an entry with `from <= timestamp < to`. `null`: unbounded. */
  from: number | null;
  to: number | null;
  /** Excludes segments that share no bit with a mask. */
  levelMask: number;
  categoryMask: number;
  /** Excludes segments without an entry of this commit or an earlier one. `null` for all. */
  asOf: number | null;
  /** With `asOf`: excludes segments that have later entries as well, or all others. */
  cut?: "excluded" | "only";
  /** Excludes segments that fail one of these tests; see `tokenTestsOf`. */
  tests: readonly TokenTest[];
  /** `desc`: by largest timestamp, falling. `asc`: by smallest timestamp, rising. */
  order: Order;
  /** Continues after this position; `null` from the beginning. */
  after: SegmentPosition | null;
  /** Maximum number of segments on a page. */
  limit: number;
  /** Maximum number of segments examined: those of the workspace, or of a single project, within the times. */
  maxScanned: number;
  /**
   * Chooses the segments that were current at this time, epoch milliseconds, at most 15 minutes ago. So the pages of a read
   * are not changed by a compaction; see `../compaction/visibility.ts`. Without it, those that are current now.
   */
  readAt?: number;
  /** Excludes segments that were current before this time, so that only those of later compactions are left. */
  mergedAfter?: number;
}

/** A segment's position in either order. */
export interface SegmentPosition extends SegmentKey {
  minTimestamp: number;
  maxTimestamp: number;
}

/** Compares positions like the indices of the table: ids are ASCII. */
export function comparePositions(order: Order, a: SegmentPosition, b: SegmentPosition): number {
  const [early, late] = order === "desc" ? [b, a] : [a, b];
  const [first, second] = order === "desc" ? (["maxTimestamp", "minTimestamp"] as const) : TIMES_RISING;
  if (early[first] !== late[first]) return early[first] - late[first];
  if (early[second] !== late[second]) return early[second] - late[second];
  if (early.projectId !== late.projectId) return early.projectId < late.projectId ? -1 : 1;
  return early.firstSeq - late.firstSeq || early.part - late.part;
}

const TIMES_RISING = ["minTimestamp", "maxTimestamp"] as const;

/** One page of a selection. */
export interface SegmentPage<S> {
  segments: S[];
  /**
   * The position at which the next page continues, not necessarily of a segment on this page; `null` on the last page.
   */
  next: SegmentPosition | null;
}

export interface Statement {
  sql: string;
  params: (string | number)[];
}

/**
 * Builds the statement that selects columns of the chosen segments, in order. Each row begins with the position of the
 * last examined segment, as JSON of the values of a `SegmentPosition`, or null if it was the last one. If no segment
 * was chosen, one row has only the position.
 *
 * @param columns including `POSITION_COLUMNS` by their own names
 */
export function selectStatement(selection: SegmentSelection, columns: string): Statement {
  const params: (string | number)[] = [];
  const tests = filterCondition(selection.tests);
  // These parameters come first, because the condition uses their numbers.
  if (tests !== null) params.push(...BIT_TABLES);
  const bind = (value: string | number): string => `?${params.push(value)}`;
  const { levelMask, categoryMask, asOf, cut, order, limit, maxScanned, mergedAfter } = selection;
  const isDescending = order === "desc";
  const key = (isDescending ? POSITION_COLUMNS : OLDEST_KEY).join(", ");
  const direction = isDescending ? "DESC" : "ASC";
  const sorted = key.replaceAll(/\w+/g, (name) => `${name} ${direction}`);
  const source = `segments INDEXED BY ${isDescending ? "segments_newest" : "segments_oldest"}`;
  const examined = examinedConditions(selection, key, bind).join(" AND ");
  const conditions = [
    // Reads nothing after the last examined segment. `+` takes its type from a column, so SQLite bounds the index by
    // it.
    `(${key}) ${isDescending ? ">=" : "<="} (SELECT ${key.replaceAll(/\w+/g, "+$&")} FROM bound)`,
    projectCondition(selection.projects, bind),
    visibleCondition(selection.readAt, bind),
    `(level_mask & ${bind(levelMask)}) <> 0`,
    `(category_mask & ${bind(categoryMask)}) <> 0`,
  ];
  if (mergedAfter !== undefined) conditions.push(`part > ${bind(lastVisiblePart(mergedAfter))}`);
  if (asOf !== null) conditions.push(`min_commit <= ${bind(asOf)}`);
  if (asOf !== null && cut !== undefined) conditions.push(`max_commit ${cut === "only" ? ">" : "<="} ${bind(asOf)}`);
  if (tests !== null) conditions.push(tests);
  const beyond = isDescending ? -BEYOND_ALL : BEYOND_ALL;
  return {
    sql: `WITH position AS MATERIALIZED (SELECT ${key} FROM ${source} WHERE ${examined} ORDER BY ${sorted}
        LIMIT 1 OFFSET ${bind(maxScanned - 1)}),
      bound AS MATERIALIZED (SELECT * FROM position UNION ALL SELECT ${beyond}, ${beyond}, '', ${beyond}, ${beyond}
        WHERE NOT EXISTS (SELECT 1 FROM position))
      SELECT (SELECT json_array(${POSITION_COLUMNS.join(", ")}) FROM position), found.* FROM (SELECT 1)
        LEFT JOIN (SELECT ${columns} FROM ${source} WHERE ${examined} AND ${conditions.join(" AND ")}
          ORDER BY ${sorted} LIMIT ${bind(limit)}) AS found ON true
      ORDER BY ${sorted}`,
    params,
  };
}

/** Selects the segments that a read sees; those that are current now without its time. */
export function visibleCondition(readAt: number | undefined, bind: (value: string | number) => string): string {
  if (readAt === undefined) return CURRENT;
  return `part <= ${bind(lastVisiblePart(readAt))} AND (${CURRENT} OR replaced_at > ${bind(readAt)})`;
}

/** The columns of a `SegmentPosition`, in the order of `segments_newest`. */
const POSITION_COLUMNS = ["max_ts", "min_ts", "project_id", "first_seq", "part"] as const;
const OLDEST_KEY = ["min_ts", "max_ts", "project_id", "first_seq", "part"] as const;

/** Beyond all times and `seq`s: a date has at most 8.64e15 ms. */
const BEYOND_ALL = 9_000_000_000_000_000;

/** @param json first column of a row of `selectStatement` */
export function readPosition(json: string | null): SegmentPosition | null {
  if (json === null) return null;
  // SAFETY: this is the array that the statement makes, of columns of a STRICT table.
  const [maxTimestamp, minTimestamp, projectId, firstSeq, part] = JSON.parse(json) as [
    number,
    number,
    string,
    number,
    number,
  ];
  return { maxTimestamp, minTimestamp, projectId, firstSeq, part };
}

/** Returns the conditions that an index alone can test. Segments that meet them are examined. */
function examinedConditions(
  { workspaceId, projects, from, to, order, after }: SegmentSelection,
  key: string,
  bind: (value: string | number) => string,
): string[] {
  const conditions = [`workspace_id = ${bind(workspaceId)}`];
  const [only] = projects.keys();
  if (only !== undefined && projects.size === 1) conditions.push(`project_id = ${bind(only)}`);
  if (from !== null) conditions.push(`max_ts >= ${bind(from)}`);
  if (to !== null) conditions.push(`min_ts < ${bind(to)}`);
  if (after !== null) {
    const { minTimestamp: min, maxTimestamp: max, projectId, firstSeq, part } = after;
    const isDescending = order === "desc";
    const position = [...(isDescending ? [max, min] : [min, max]), projectId, firstSeq, part].map(bind);
    conditions.push(`(${key}) ${isDescending ? "<" : ">"} (${position.join(", ")})`);
  }
  return conditions;
}

function projectCondition(projects: ReadonlyMap<string, number>, bind: (value: string | number) => string): string {
  const [only] = projects;
  if (only !== undefined && projects.size === 1)
    return `project_id = ${bind(only[0])} AND last_seq <= ${bind(only[1])}`;
  // A project without a watermark compares with null, which is false.
  return `last_seq <= json_extract(${bind(JSON.stringify(Object.fromEntries(projects)))}, '$."' || project_id || '"')`;
}

/** The part of a selection that is the same for all its pages. */
export type PagerSelection = Omit<SegmentSelection, "after" | "limit" | "maxScanned">;

export type ReadSegments<S> = (selection: SegmentSelection) => Promise<SegmentPage<S>>;

/** Work units of a page, and of examining a segment with and without tests of its filter. */
const PAGE_COST = 1_500_000;
const TESTED_COST = 19_000;
const UNTESTED_COST = 6_300;

/** Maximum number of segments that one statement examines. A statement takes up to a tenth of a second. */
const MAX_TESTED = 4096;
const MAX_UNTESTED = 16_384;

/** Growth of the number of examined segments from page to page: if most are chosen, and if few are. */
const DENSE_GROWTH = 2;
const SPARSE_GROWTH = 4;

/**
 * Pages through the segments of a selection. Examining segments costs work even if none is chosen: filters may exclude
 * nearly all of a hundred thousand. So each statement examines a bounded number, and `cost` includes all of them.
 */
export class SegmentPager<S extends SegmentPosition> {
  readonly #read: ReadSegments<S>;
  readonly #selection: PagerSelection;
  readonly #limit: number;
  #maxScanned: number;
  #next: SegmentPosition | null = null;
  #isDone: boolean;
  #cost = 0;

  /**
   * @param limit maximum number of segments on a page
   * @param first number of segments that the first page examines
   * @param after continues after this position; `null` from the beginning
   */
  constructor(
    read: ReadSegments<S>,
    selection: PagerSelection,
    limit: number,
    first: number,
    after: SegmentPosition | null = null,
  ) {
    this.#read = read;
    this.#selection = { readAt: Date.now(), ...selection };
    this.#limit = limit;
    this.#maxScanned = first;
    this.#next = after;
    this.#isDone = selection.projects.size === 0;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** Work units of the pages so far. */
  get cost(): number {
    return this.#cost;
  }

  /** The position after which all further segments are; `null` before the first page, and at the end. */
  get position(): SegmentPosition | null {
    return this.#next;
  }

  /** Returns the next page of segments. An empty page is not the end; check `isDone`. */
  async page(): Promise<S[]> {
    const maxScanned = this.#maxScanned;
    const page = await this.#read({ ...this.#selection, after: this.#next, limit: this.#limit, maxScanned });
    const found = page.segments.length;
    const isTested = this.#selection.tests.length > 0;
    this.#cost += PAGE_COST + maxScanned * (isTested ? TESTED_COST : UNTESTED_COST);
    this.#next = page.next;
    this.#isDone = page.next === null;
    if (found * DENSE_GROWTH >= maxScanned) this.#maxScanned = Math.min(maxScanned * DENSE_GROWTH, this.#limit);
    else this.#maxScanned = Math.min(maxScanned * SPARSE_GROWTH, isTested ? MAX_TESTED : MAX_UNTESTED);
    return page.segments;
  }
}
