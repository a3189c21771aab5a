import type { Order } from "../../query/feed.ts";
import { type Probe, probesOf } from "../filter/bloom.ts";
import type { TokenTest } from "../filter/tokens.ts";
import type { SegmentKey } from "../format/segment.ts";
import { toHex } from "./writer.ts";

/**
 * A filter's test as SQL, so that filters never leave D1: `instr` looks for the filter's byte among the 128 bytes that
 * have the wanted bit. A segment without the token fails at the first or second probe.
 */

/** Tokens of one statement: it stays far below D1's 100 KB, and each further one tells less. */
const MAX_TOKENS = 64;

/** What `?1` to `?8` of a statement with a filter condition stand for: the bytes that have bit 0, 1 ... 7. */
export const BIT_TABLES: readonly string[] = Array.from({ length: 8 }, (_, bit) =>
  toHex(Uint8Array.from({ length: 256 }, (_, byte) => byte).filter((byte) => (byte & (1 << bit)) !== 0)),
);

/** A condition on the columns `filter_kinds` and `filter`; null where the tests cannot tell anything. */
export function filterCondition(tests: readonly TokenTest[]): string | null {
  const conditions: string[] = [];
  let tokens = 0;
  for (const { kind, anyOf } of tests) {
    tokens += anyOf.length;
    if (tokens > MAX_TOKENS) break;
    const held = anyOf.map(({ a, b }) => joined("AND", probesOf(a, b).map(probeSql)));
    conditions.push(`((filter_kinds & ${kind}) = 0 OR ${joined("OR", held)})`);
  }
  return conditions.length === 0 ? null : joined("AND", conditions);
}

function probeSql({ place, bit }: Probe): string {
  return `instr(unhex(?${bit + 1}), substr(filter, 1 + ((${place} * length(filter)) >> 32), 1))`;
}

/** Put together in halves: D1 takes expressions of depth 100. */
function joined(operator: "AND" | "OR", parts: readonly string[]): string {
  const [only] = parts;
  if (parts.length <= 1) return only ?? "";
  const half = parts.length >> 1;
  return `(${joined(operator, parts.slice(0, half))} ${operator} ${joined(operator, parts.slice(half))})`;
}

/** Which segments a query may need, told without their bodies. */
export interface SegmentSelection {
  workspaceId: string;
  /** Projects searched, each with the last `seq` that counts: what lies behind it is still in the workspace object. */
  projects: ReadonlyMap<string, number>;
  /** Epoch milliseconds: segments that may hold an entry with `from <= timestamp < to`. Null: open. */
  from: number | null;
  to: number | null;
  /** Segments that share no bit with a mask are left out. */
  levelMask: number;
  categoryMask: number;
  /** Segments that no commit up to this one is in are left out; null for all. */
  asOf: number | null;
  /** Segments that surely lack what one of these asks for are left out; see `tokenTestsOf`. */
  tests: readonly TokenTest[];
  /** `desc`: by largest timestamp, falling. `asc`: by smallest timestamp, rising. */
  order: Order;
  /** Behind this segment; null from the beginning. */
  after: SegmentPosition | null;
  /** Segments given at most ... */
  limit: number;
  /** ... and looked at: of the workspace's, or of the project's where there is one, those that the times leave. */
  maxScanned: number;
}

/** A segment's place in either order. */
export interface SegmentPosition extends SegmentKey {
  minTimestamp: number;
  maxTimestamp: number;
}

/** Compares places in the order of a walk, as the indices of the table do: ids are ASCII. */
export function comparePositions(order: Order, a: SegmentPosition, b: SegmentPosition): number {
  const [early, late] = order === "desc" ? [b, a] : [a, b];
  const [first, second] = order === "desc" ? (["maxTimestamp", "minTimestamp"] as const) : TIMES_RISING;
  if (early[first] !== late[first]) return early[first] - late[first];
  if (early[second] !== late[second]) return early[second] - late[second];
  if (early.projectId !== late.projectId) return early.projectId < late.projectId ? -1 : 1;
  return early.firstSeq - late.firstSeq || early.part - late.part;
}

const TIMES_RISING = ["minTimestamp", "maxTimestamp"] as const;

/** Part of a walk through segments. */
export interface SegmentPage<S> {
  segments: S[];
  /** The walk goes on behind this segment, which need not be among those given; null where there is none behind. */
  next: SegmentPosition | null;
}

export interface Statement {
  sql: string;
  params: (string | number)[];
}

/**
 * The statement that selects columns of the segments wanted, in order. Each row begins with the place of the last segment
 * looked at, as JSON of a `SegmentPosition`'s values, or null where there are fewer; without segments one row has only that.
 *
 * @param columns with those of `PLACE_COLUMNS` among them, by their own names
 */
export function selectStatement(selection: SegmentSelection, columns: string): Statement {
  const params: (string | number)[] = [];
  const tests = filterCondition(selection.tests);
  // They come first: a condition names them by number.
  if (tests !== null) params.push(...BIT_TABLES);
  const bind = (value: string | number): string => `?${params.push(value)}`;
  const { levelMask, categoryMask, asOf, order, limit, maxScanned } = selection;
  const isDescending = order === "desc";
  const key = (isDescending ? PLACE_COLUMNS : OLDEST_KEY).join(", ");
  const direction = isDescending ? "DESC" : "ASC";
  const sorted = key.replaceAll(/\w+/g, (name) => `${name} ${direction}`);
  const source = `segments INDEXED BY ${isDescending ? "segments_newest" : "segments_oldest"}`;
  const walk = walkConditions(selection, key, bind).join(" AND ");
  const conditions = [
    // Behind the last one looked at nothing is read. As `+` takes its type from a column, SQLite bounds the index by it.
    `(${key}) ${isDescending ? ">=" : "<="} (SELECT ${key.replaceAll(/\w+/g, "+$&")} FROM bound)`,
    projectCondition(selection.projects, bind),
    `(level_mask & ${bind(levelMask)}) <> 0`,
    `(category_mask & ${bind(categoryMask)}) <> 0`,
  ];
  if (asOf !== null) conditions.push(`min_commit <= ${bind(asOf)}`);
  if (tests !== null) conditions.push(tests);
  const beyond = isDescending ? -BEYOND_ALL : BEYOND_ALL;
  return {
    sql: `WITH place AS MATERIALIZED (SELECT ${key} FROM ${source} WHERE ${walk} ORDER BY ${sorted}
        LIMIT 1 OFFSET ${bind(maxScanned - 1)}),
      bound AS MATERIALIZED (SELECT * FROM place UNION ALL SELECT ${beyond}, ${beyond}, '', ${beyond}, ${beyond}
        WHERE NOT EXISTS (SELECT 1 FROM place))
      SELECT (SELECT json_array(${PLACE_COLUMNS.join(", ")}) FROM place), found.* FROM (SELECT 1)
        LEFT JOIN (SELECT ${columns} FROM ${source} WHERE ${walk} AND ${conditions.join(" AND ")}
          ORDER BY ${sorted} LIMIT ${bind(limit)}) AS found ON true
      ORDER BY ${sorted}`,
    params,
  };
}

/** What a `SegmentPosition` is in the table, in the order of `segments_newest`. */
const PLACE_COLUMNS = ["max_ts", "min_ts", "project_id", "first_seq", "part"] as const;
const OLDEST_KEY = ["min_ts", "max_ts", "project_id", "first_seq", "part"] as const;

/** Beyond all times and `seq`s: a date has at most 8.64e15 ms. */
const BEYOND_ALL = 9_000_000_000_000_000;

/** @param json as the first column of `selectStatement` gives it */
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

/** Which segments a walk looks at: told by an index alone. */
function walkConditions(
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
    const place = [...(isDescending ? [max, min] : [min, max]), projectId, firstSeq, part].map(bind);
    conditions.push(`(${key}) ${isDescending ? "<" : ">"} (${place.join(", ")})`);
  }
  return conditions;
}

function projectCondition(projects: ReadonlyMap<string, number>, bind: (value: string | number) => string): string {
  const [only] = projects;
  if (only !== undefined && projects.size === 1)
    return `project_id = ${bind(only[0])} AND last_seq <= ${bind(only[1])}`;
  // No watermark is null, and so false.
  return `last_seq <= json_extract(${bind(JSON.stringify(Object.fromEntries(projects)))}, '$."' || project_id || '"')`;
}

/** Which segments a walk gives, from the first one on. */
export type PagerSelection = Omit<SegmentSelection, "after" | "limit" | "maxScanned">;

export type ReadSegments<S> = (selection: SegmentSelection) => Promise<SegmentPage<S>>;

/** What an answer costs, and to look at a segment with and without tests of its filter, in units of work. */
const ANSWER_COST = 1_500_000;
const TESTED_COST = 19_000;
const UNTESTED_COST = 6_300;

/** Segments that one statement looks at, at most: each takes up to a tenth of a second. */
const TESTED_MOST = 4096;
const UNTESTED_MOST = 16_384;

/** How many are looked at next, as a multiple of the last time: where most are wanted, and where few are. */
const DENSE_GROWTH = 2;
const SPARSE_GROWTH = 4;

/**
 * Goes through the segments of a selection, some at a time. What is left out costs, too: filters may leave nearly none of
 * a hundred thousand, so each statement looks at so many at most, and what has been looked at counts.
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
   * @param limit segments that one answer may hold
   * @param first segments that the first answer looks at
   * @param after behind this segment; null from the first one on
   */
  constructor(
    read: ReadSegments<S>,
    selection: PagerSelection,
    limit: number,
    first: number,
    after: SegmentPosition | null = null,
  ) {
    this.#read = read;
    this.#selection = selection;
    this.#limit = limit;
    this.#maxScanned = first;
    this.#next = after;
    this.#isDone = selection.projects.size === 0;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  /** What has been walked so far, in units of work. */
  get cost(): number {
    return this.#cost;
  }

  /** Everything still to come lies behind this segment; null where that is all, and at the end. */
  get place(): SegmentPosition | null {
    return this.#next;
  }

  /** The next segments wanted: none are no end. */
  async page(): Promise<S[]> {
    const maxScanned = this.#maxScanned;
    const page = await this.#read({ ...this.#selection, after: this.#next, limit: this.#limit, maxScanned });
    const found = page.segments.length;
    const isTested = this.#selection.tests.length > 0;
    this.#cost += ANSWER_COST + maxScanned * (isTested ? TESTED_COST : UNTESTED_COST);
    this.#next = page.next;
    this.#isDone = page.next === null;
    if (found * DENSE_GROWTH >= maxScanned) this.#maxScanned = Math.min(maxScanned * DENSE_GROWTH, this.#limit);
    else this.#maxScanned = Math.min(maxScanned * SPARSE_GROWTH, isTested ? TESTED_MOST : UNTESTED_MOST);
    return page.segments;
  }
}
