import type { StoredBatch } from "../logs/batch.ts";
import type { BatchIndex } from "./batch-index.ts";
import type { ProjectRow } from "./projects.ts";
import { readBatch } from "./recent-reader.ts";

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
  /** What is up to this `seq` has left the object, and is in the cold tier. */
  flushedSeq: number;
  /** Entries with an earlier timestamp are past the retention, wherever they still lie: epoch milliseconds. */
  oldest: number;
  /** Everything of the range up to here that the object holds is in `batches`. */
  through: number;
  /** In order; the first and the last may reach beyond the range. */
  batches: StoredBatch[];
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
  for (const { commit, firstSeq, bodyBytes } of index.behind(project.num, scan.after)) {
    if (firstSeq > until) break;
    bytes += bodyBytes;
    if (page.batches.length > 0 && (bytes > PAGE_BYTES || page.batches.length === PAGE_BATCHES)) {
      page.through = firstSeq - 1;
      break;
    }
    page.batches.push(readBatch(sql, commit, projectId));
  }
  return page;
}
