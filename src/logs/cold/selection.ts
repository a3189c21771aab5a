import type { Order } from "../query/row-order.ts";
import { BIT_TABLES, filterCondition } from "./filter-sql.ts";
import type { SegmentKey } from "./segment.ts";
import type { TokenTest } from "./tokens.ts";

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
