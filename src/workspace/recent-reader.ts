import type { BatchEncoding, RecentBatch } from "../logs/batch.ts";
import { mayContainIds } from "../logs/id-filter.ts";
import type { ProjectProgress, RecentPage, RecentScan } from "../logs/query/recent-scan.ts";
import { idFilterOf } from "../logs/summary.ts";
import { type BatchSelection, positionOf } from "./batch-columns.ts";
import type { BatchIndex, Selected } from "./batch-index.ts";
import { lastCommit } from "./batches.ts";

export type { RecentPage, RecentScan };

/** Bodies as stored and batches that one turn gives at most, whatever a scan asks for: either takes about 5 ms. */
const PAGE_MAX_BYTES = 4 * 1024 * 1024;
const PAGE_MAX_BATCHES = 500;
/** Filters of ids that one turn asks at most, and bytes of the summaries that they are in: as long again. */
const PAGE_MAX_FILTERS = 1000;
const PAGE_MAX_FILTER_BYTES = 4 * 1024 * 1024;

/** What is searched: some projects, and the name that cursors know them by. */
export interface RecentScope {
  name: string;
  projects: readonly { num: number; id: string; flushedSeq: number; lastSeq: number }[];
  /** See `RecentPage.oldest`. */
  oldest: number;
}

/** How far each project is. `isNewest`: the snapshot holds all that has been committed. */
export function progressOf(projects: RecentScope["projects"], isNewest: boolean): ProjectProgress[] {
  return projects.map(({ id, flushedSeq, lastSeq }) => {
    return { projectId: id, seq: flushedSeq, ...(isNewest ? { lastSeq } : {}) };
  });
}

/** A page, or what has to be selected outside the turn first, as that would hold the thread for too long. */
export type RecentRead = { ok: true; page: RecentPage } | { ok: false; selection: BatchSelection };

/**
 * One page of candidate batches.
 * @param found what a read before gave as its selection, selected in turns of its own
 */
export function readRecent(
  sql: SqlStorage,
  index: Pick<BatchIndex, "select">,
  scan: RecentScan,
  scope: RecentScope,
  found: Selected | null = null,
): RecentRead {
  const newest = lastCommit(sql);
  const asOf = scan.asOf ?? newest;
  const { name, projects, oldest } = scope;
  const flushed = progressOf(projects, asOf === newest);
  const page: RecentPage = { asOf, lastCommit: newest, scope: name, flushed, oldest, batches: [], next: null };
  if (asOf > newest) return { ok: true, page };
  const projectIds = new Map(projects.map(({ num, id }) => [num, id]));
  const selection = { ...scan, asOf, projects: projectIds };
  const selected = found ?? index.select(selection);
  if (selected === null) return { ok: false, selection };
  const maxBytes = Math.min(scan.maxBytes, PAGE_MAX_BYTES);
  let bytes = 0;
  const ids = scan.ids ?? [];
  let asked = 0;
  let askedBytes = 0;
  for (const [at, batch] of selected.batches.entries()) {
    const isLast = selected.isCut && at === selected.batches.length - 1;
    const isTired = isLast || asked === PAGE_MAX_FILTERS || askedBytes > PAGE_MAX_FILTER_BYTES;
    if (!isTired && ids.length > 0) {
      const summary = readSummaryOf(sql, batch.commit);
      if (summary === null) continue;
      asked++;
      askedBytes += summary.length;
      if (!mayContainIds(idFilterOf(summary), ids)) continue;
    }
    bytes += batch.bodyBytes;
    if (isTired || page.batches.length === PAGE_MAX_BATCHES || (bytes > maxBytes && page.batches.length > 0)) {
      page.next = positionOf(scan.order, batch);
      break;
    }
    const given = giveBatch(sql, batch.commit, projectIds.get(batch.project) ?? "");
    if (given) page.batches.push(given);
  }
  return { ok: true, page };
}

/** Null where the batch has been deleted since it was selected. */
function readSummaryOf(sql: SqlStorage, commit: number): Uint8Array | null {
  const select = "SELECT summary FROM batches WHERE commit_no = ?";
  const row = sql.exec<{ summary: ArrayBuffer }>(select, commit).toArray()[0];
  return row ? new Uint8Array(row.summary) : null;
}

type BatchRow = {
  firstSeq: number;
  count: number;
  minTimestamp: number;
  maxTimestamp: number;
  receivedAt: number;
  encoding: BatchEncoding;
  bodyBytes: number;
  body: ArrayBuffer;
};

/** A batch whole. Its commit must be there. @throws RangeError where a part of it is not */
export function readBatch(sql: SqlStorage, commit: number, projectId: string): RecentBatch {
  const batch = readRow(sql, commit, projectId);
  if (!batch?.isWhole) throw new RangeError("A batch's parts are not as long as its row says.");
  return batch.stored;
}

/** No batch decodes from this. */
const NOT_WHOLE = { encoding: 1, body: Uint8Array.of(0) } as const;

/**
 * The same for a reader, who must not fail for one bad batch: it gets bytes that do not decode, and reports the batch. Null
 * where the batch has been deleted.
 */
export function giveBatch(sql: SqlStorage, commit: number, projectId: string): RecentBatch | null {
  const row = readRow(sql, commit, projectId);
  return row && (row.isWhole ? row.stored : { ...row.stored, ...NOT_WHOLE });
}

function readRow(sql: SqlStorage, commit: number, projectId: string): { stored: RecentBatch; isWhole: boolean } | null {
  const row = sql
    .exec<BatchRow>(
      `SELECT first_seq AS firstSeq, count, min_ts AS minTimestamp, max_ts AS maxTimestamp, received_at AS receivedAt,
         encoding, body_bytes AS bodyBytes, body
       FROM batches WHERE commit_no = ?`,
      commit,
    )
    .toArray()[0];
  if (!row) return null;
  const { bodyBytes, body, ...columns } = row;
  const bytes = body.byteLength === bodyBytes ? new Uint8Array(body) : joinParts(sql, commit, body);
  return { stored: { commit, projectId, ...columns, body: bytes }, isWhole: bytes.length === bodyBytes };
}

/** The batch's own row holds part 0; the rest follows in `batch_parts`. */
function joinParts(sql: SqlStorage, commit: number, first: ArrayBuffer): Uint8Array {
  const parts = sql.exec("SELECT body FROM batch_parts WHERE commit_no = ? ORDER BY part", commit).raw<[ArrayBuffer]>();
  return Buffer.concat([first, ...[...parts].map(([part]) => part)].map((part) => new Uint8Array(part)));
}
