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
  limit: number;
}

/** A segment's place in either order. */
export interface SegmentPosition extends SegmentKey {
  minTimestamp: number;
  maxTimestamp: number;
}

export interface Statement {
  sql: string;
  params: (string | number)[];
}

/** The statement that selects columns of the segments wanted, in order. */
export function selectStatement(selection: SegmentSelection, columns: string): Statement {
  const params: (string | number)[] = [];
  const tests = filterCondition(selection.tests);
  // They come first: a condition names them by number.
  if (tests !== null) params.push(...BIT_TABLES);
  const bind = (value: string | number): string => `?${params.push(value)}`;
  const { from, to, levelMask, categoryMask, asOf, order, after } = selection;
  const isDescending = order === "desc";
  const key = isDescending
    ? ["max_ts", "min_ts", "project_id", "first_seq", "part"]
    : ["min_ts", "max_ts", "project_id", "first_seq", "part"];
  const conditions = [`workspace_id = ${bind(selection.workspaceId)}`];
  if (from !== null) conditions.push(`max_ts >= ${bind(from)}`);
  if (to !== null) conditions.push(`min_ts < ${bind(to)}`);
  if (after !== null) {
    const { minTimestamp: min, maxTimestamp: max, projectId, firstSeq, part } = after;
    const place = [...(isDescending ? [max, min] : [min, max]), projectId, firstSeq, part].map(bind);
    conditions.push(`(${key.join(", ")}) ${isDescending ? "<" : ">"} (${place.join(", ")})`);
  }
  conditions.push(projectCondition(selection.projects, bind));
  conditions.push(`(level_mask & ${bind(levelMask)}) <> 0`, `(category_mask & ${bind(categoryMask)}) <> 0`);
  if (asOf !== null) conditions.push(`min_commit <= ${bind(asOf)}`);
  if (tests !== null) conditions.push(tests);
  const sorted = key.map((name) => `${name} ${isDescending ? "DESC" : "ASC"}`);
  return {
    sql: `SELECT ${columns} FROM segments INDEXED BY ${isDescending ? "segments_newest" : "segments_oldest"}
      WHERE ${conditions.join(" AND ")} ORDER BY ${sorted.join(", ")} LIMIT ${bind(selection.limit)}`,
    params,
  };
}

function projectCondition(projects: ReadonlyMap<string, number>, bind: (value: string | number) => string): string {
  const [only] = projects;
  if (only !== undefined && projects.size === 1)
    return `project_id = ${bind(only[0])} AND last_seq <= ${bind(only[1])}`;
  // No watermark is null, and so false.
  return `last_seq <= json_extract(${bind(JSON.stringify(Object.fromEntries(projects)))}, '$."' || project_id || '"')`;
}
