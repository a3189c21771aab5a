import { packSummaries, type RecentCountPage, type RecentCountScan } from "../logs/stats/recent-counts.ts";
import { countsOf } from "../logs/summary.ts";
import { lastCommit } from "./batches.ts";
import { progressOf, type RecentScope } from "./recent-reader.ts";

/** Batches that one turn looks at: about 3 ms. */
const PAGE_BATCHES = 1500;
/** Bytes of their summaries, the last one on top: that of 1,000 entries of types of their own has up to half a megabyte. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** One page of the summaries of recent batches. Most of the table is passed over: bodies stand behind the summaries. */
export function readRecentCounts(sql: SqlStorage, scan: RecentCountScan, scope: RecentScope): RecentCountPage {
  const newest = lastCommit(sql);
  const asOf = scan.asOf ?? newest;
  const { projects, oldest } = scope;
  const rows = sql
    .exec(
      `SELECT commit_no, project, min_ts, max_ts, level_mask, category_mask, summary FROM batches
       WHERE commit_no > ? AND commit_no <= ? ORDER BY commit_no LIMIT ?`,
      scan.after,
      asOf,
      PAGE_BATCHES,
    )
    .raw<[number, number, number, number, number, number, ArrayBuffer]>();
  const flushedOf = new Map(projects.map(({ num, flushedSeq }) => [num, flushedSeq]));
  const summaries: Uint8Array[] = [];
  let looked = 0;
  let bytes = 0;
  let next = scan.after;
  for (const [commit, project, min, max, levels, categories, summary] of rows) {
    looked++;
    next = commit;
    if (!flushedOf.has(project)) continue;
    if (scan.from !== null && max < scan.from) continue;
    if (scan.to !== null && min >= scan.to) continue;
    if ((levels & scan.levelMask) === 0 || (categories & scan.categoryMask) === 0) continue;
    summaries.push(countsOf(new Uint8Array(summary)));
    bytes += summary.byteLength;
    if (bytes > PAGE_BYTES) break;
  }
  return {
    asOf,
    flushed: progressOf(projects, asOf === newest),
    oldest,
    summaries: packSummaries(summaries),
    next: looked < PAGE_BATCHES && bytes <= PAGE_BYTES ? null : next,
  };
}
