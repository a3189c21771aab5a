import type { RecentBatch } from "../logs/batch.ts";
import type { BatchIndex } from "./batch-index.ts";
import type { ProjectRow } from "./projects.ts";
import { giveBatch } from "./recent-reader.ts";

/** Entries of a project with `after < seq <= until`, as far as one answer goes. */
export interface SeqScan {
  after: number;
  until: number;
}

/**
 * The part of a range that the object holds, with what a reader has to know of the rest. Read before the cold tier is: a
 * batch leaves the object only once it is there.
 */
export interface SeqPage {
  projectId: string;
  /** The project's newest `seq`. */
  lastSeq: number;
  /** What is up to this `seq` is in the cold tier, but for batches that it could not take: those are still here. */
  flushedSeq: number;
  /** Entries with an earlier timestamp are past the retention, wherever they still lie: epoch milliseconds. */
  oldest: number;
  /** Everything of the range up to here that the object holds is in `batches`. */
  through: number;
  /** In order; the first and the last may reach beyond the range. */
  batches: RecentBatch[];
}

/** Bodies as stored that one turn reads; a single larger one is read nevertheless. Takes about 2 ms. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_BATCHES = 200;

export function readBySeq(
  sql: SqlStorage,
  index: BatchIndex,
  project: ProjectRow,
  oldest: number,
  scan: SeqScan,
): SeqPage {
  const { lastSeq, flushedSeq, id: projectId } = project;
  const until = Math.min(scan.until, lastSeq);
  const page: SeqPage = { projectId, lastSeq, flushedSeq, oldest, through: until, batches: [] };
  let bytes = 0;
  for (const { commit, firstSeq, bodyBytes } of index.batchesAfter(project.num, scan.after)) {
    if (firstSeq > until) break;
    bytes += bodyBytes;
    if (page.batches.length > 0 && (bytes > PAGE_BYTES || page.batches.length === PAGE_BATCHES)) {
      page.through = firstSeq - 1;
      break;
    }
    const batch = giveBatch(sql, commit, projectId);
    if (batch) page.batches.push(batch);
  }
  return page;
}

/** Where a reader that has come to a `seq` goes on: with batches, or with what the cold tier has up to a `seq`. */
export type NextBySeq = { tier: "recent"; page: SeqPage } | { tier: "cold"; until: number };

export function nextBySeq(
  sql: SqlStorage,
  index: BatchIndex,
  project: ProjectRow,
  oldest: number,
  after: number,
): NextBySeq {
  const { flushedSeq, lastSeq, num } = project;
  const recent = (until: number): NextBySeq => {
    return { tier: "recent", page: readBySeq(sql, index, project, oldest, { after, until }) };
  };
  if (after >= flushedSeq) return recent(lastSeq);
  // Among what has been moved there may be batches that were not.
  for (const { commit, firstSeq } of index.batchesAfter(num, after)) {
    if (firstSeq > flushedSeq) break;
    const { count } = sql.exec<{ count: number }>("SELECT count FROM batches WHERE commit_no = ?", commit).one();
    if (firstSeq > after + 1) return { tier: "cold", until: firstSeq - 1 };
    if (firstSeq + count - 1 > after) return recent(firstSeq + count - 1);
  }
  return { tier: "cold", until: flushedSeq };
}
