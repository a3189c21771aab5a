import type { Cursor } from "./cursor.ts";
import type { QueryBudget } from "./limits.ts";
import type { ReadMemory } from "./memory.ts";
import { ScanPacer } from "./pacer.ts";
import type { RecentPage } from "./recent-scan.ts";
import type { PageCut } from "./run-query.ts";
import type { LogQuery } from "./schema.ts";
import { ResumableScan, type SweepScan } from "./sweep.ts";
import type { ResumableScanState } from "./sweep-state.ts";
import { FoundRowReader } from "./swept-rows.ts";
import { keptFilter, type LogSource, recentSelection, storedSelection, type TierScan } from "./tiers.ts";

/** Bytes as stored of the first page of batches. */
const FIRST_PAGE_BYTES = 512 * 1024;

/** A query's cursor in the middle of a sweep. */
export type ResumingCursor = Cursor & { sweep: ResumableScanState };

/** The page of the recent tier that every request begins with; without batches where none are wanted any more. */
export function openResumed(
  source: LogSource,
  { filter }: LogQuery,
  { place }: ResumableScanState,
  scan: TierScan,
): Promise<RecentPage> {
  const selection = { ...recentSelection(filter, scan), followsMoves: true };
  if (place?.tier !== "recent") return source.recent({ ...selection, levelMask: 0, position: null, maxBytes: 1 });
  return source.recent({ ...selection, position: place.position, maxBytes: FIRST_PAGE_BYTES });
}

/** Goes on with a sweep, and gives the rows that it has found once it is at its end. */
export async function readResumed(
  source: LogSource,
  query: LogQuery,
  cursor: ResumingCursor,
  first: RecentPage,
  scan: TierScan,
  budget: QueryBudget,
  memory: ReadMemory,
): Promise<PageCut> {
  const { asOf } = first;
  const pacer = new ScanPacer();
  const wanted: SweepScan = {
    order: query.order,
    position: cursor.position,
    filter: keptFilter(query.filter, first),
    recent: { ...recentSelection(query.filter, { ...scan, asOf }), followsMoves: true },
    cold: storedSelection(source, first, query.filter, scan),
    work: budget.work,
    rows: budget.resumableRows,
  };
  const sweep = new ResumableScan(source, wanted, pacer, memory, cursor.sweep);
  const { place } = cursor.sweep;
  const state = place === null ? cursor.sweep : await sweep.run(place, first);
  const { meter } = pacer;
  const { position, skip } = cursor;
  if (state.place !== null || (place !== null && meter.done >= budget.work)) {
    const next = { position, skip, sweep: state };
    return { rows: [], complete: false, next, total: null, scanned: sweep.scanned, work: meter.done };
  }
  const passed = Math.min(skip, state.keys.length);
  const projects = new Set(first.flushed.map(({ projectId }) => projectId));
  const reader = new FoundRowReader(source, wanted, pacer, memory, budget, projects);
  const { rows, taken } = await reader.read(state.keys.slice(passed), query.limit);
  const rest = state.keys.slice(passed + taken);
  const goOn = {
    position: state.keys[passed + taken - 1] ?? position,
    skip: skip - passed,
    sweep: rest.length > 0 ? { ...state, keys: rest } : null,
  };
  const next = rest.length === 0 && state.isLast ? null : goOn;
  const complete = next === null || rows.length === query.limit;
  return { rows, complete, next, total: null, scanned: sweep.scanned, work: meter.done };
}
