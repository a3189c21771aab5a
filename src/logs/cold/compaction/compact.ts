import type { D1Database } from "@cloudflare/workers-types";
import type { Bucket } from "../../../platform/bucket.ts";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { isForBucket, placeInBucket, placeInRow } from "../../segments/encode/encode-rows.ts";
import { MalformedFile } from "../../segments/parquet/thrift.ts";
import { CorruptSegment } from "../format/segment.ts";
import { joinNewestFilters } from "./filters.ts";
import { inSteps, isDamage, Merge, type MergedFile, type MergePorts } from "./merge.ts";
import { type Candidate, chooseMerge, compactionLimits, isWorthwhile, rangesOf } from "./policy.ts";
import { CompactionStore, type MergeInput } from "./store.ts";
import { SWAP_MS, visibleFrom } from "./visibility.ts";

/** One step of the compaction of a project. */
export interface CompactionCall {
  workspaceId: string;
  projectId: string;
  /** Ranges up to this `seq` are as large as they become. */
  doneSeq: number;
  /** Ranges up to this `seq` were flushed so long ago that no late writer can insert them again. */
  readySeq: number;
  retentionDays: number;
  /** Epoch milliseconds after which nothing is written. A call may outlive the object that made it. */
  deadline: number;
}

export type CompactionOutcome =
  /** Segments were replaced. There may be more to do. */
  | { outcome: "merged"; doneSeq: number; replaced: number; segments: number; entries: number; bytes: number }
  /**
   * A range cannot be read. It stays as it is, and those after `doneSeq`, its end, are merged next. `reason` has no content of
   * entries.
   */
  | { outcome: "skipped"; doneSeq: number; firstSeq: number; reason: string }
  /** There is nothing to merge up to `doneSeq`, or up to `readySeq` if `isLast`. */
  | { outcome: "idle"; doneSeq: number; isLast: boolean }
  /** Repeat later. */
  | { outcome: "failed"; reason: string };

export interface CompactionPorts extends MergePorts {
  store: CompactionStore;
  now: () => number;
}

/** Candidates of a choice. The oldest of them decide. */
const CANDIDATES = 512;

/**
 * Merges the next segments of the first database that has some to merge; see `compactOnce`. A merge never spans two databases. A
 * database that fails does not stop those after it. A database may have older ranges than one before it, because a
 * recovery inserts into the last one: `doneSeq` of the outcome leaves out no range that another database has to merge.
 */
export async function compactIn(
  databases: readonly D1Database[],
  call: CompactionCall,
  ports: Omit<CompactionPorts, "store">,
): Promise<CompactionOutcome> {
  const stores = databases.map((db) => new CompactionStore(db));
  const { workspaceId, projectId, readySeq } = call;
  const range = { after: call.doneSeq, to: readySeq };
  const idle: Extract<CompactionOutcome, { outcome: "idle" }>[] = [];
  let failure: { error: unknown } | Extract<CompactionOutcome, { outcome: "failed" }> | null = null;
  for (const [index, store] of stores.entries()) {
    const later = await Promise.all(stores.slice(index + 1).map((s) => firstOf(s, workspaceId, projectId, range)));
    const firstLater = Math.min(...later);
    /** Up to here no database has anything to merge, if this one has nothing up to `seq`. */
    const doneUpTo = (seq: number) =>
      Math.min(seq, firstLater - 1, ...idle.filter(({ isLast }) => !isLast).map(({ doneSeq }) => doneSeq));
    try {
      const outcome = await compactOnce({ ...ports, store }, call, firstLater < Number.POSITIVE_INFINITY);
      if (outcome.outcome === "failed") failure ??= outcome;
      else if (outcome.outcome === "idle") idle.push(outcome);
      // The segments of a database that has failed are not done.
      else if (failure !== null && outcome.outcome === "merged") return { ...outcome, doneSeq: call.doneSeq };
      else if (outcome.outcome === "merged") return { ...outcome, doneSeq: doneUpTo(outcome.doneSeq) };
      // A range that is skipped is behind the step, or it would be skipped again.
      else if (failure === null) return outcome;
    } catch (error) {
      failure ??= { error };
    }
  }
  if (failure !== null && "error" in failure) throw failure.error;
  if (failure !== null) return failure;
  const open = idle.filter(({ isLast }) => !isLast).map(({ doneSeq }) => doneSeq);
  const doneSeq = open.length > 0 ? Math.min(...open) : Math.max(call.doneSeq, ...idle.map((own) => own.doneSeq));
  return { outcome: "idle", doneSeq, isLast: open.length === 0 };
}

/** Returns the first `seq` of the segments of a database in a range; infinite without any, or if the database fails. */
async function firstOf(
  store: CompactionStore,
  workspaceId: string,
  projectId: string,
  range: { after: number; to: number },
): Promise<number> {
  try {
    const [first] = await store.candidates(workspaceId, projectId, range, 1);
    return first?.firstSeq ?? Number.POSITIVE_INFINITY;
  } catch {
    // The step in that database reports the failure.
    return Number.POSITIVE_INFINITY;
  }
}

/**
 * Merges the next segments of a project: chooses them, builds the files, stores them, and replaces the rows in one
 * transaction. A crash at any point leaves the old segments or the new ones, and at most a file that is noted as an orphan.
 * @param isEnded whether later ranges are in another database
 */
export async function compactOnce(
  ports: CompactionPorts,
  call: CompactionCall,
  isEnded = false,
): Promise<CompactionOutcome> {
  const { store, now } = ports;
  const bucket = targetOf(ports);
  const { workspaceId, projectId, retentionDays } = call;
  const run = <T>(steps: Generator<null, T>) => inSteps(steps, ports.pause);
  if (bucket !== null) await joinNewestFilters({ store, bucket, now, run }, call);
  const found = await store.candidates(workspaceId, projectId, { after: call.doneSeq, to: call.readySeq }, CANDIDATES);
  const isLast = found.length < CANDIDATES;
  // The last range may have more parts.
  const whole = isLast ? found : found.filter(({ firstSeq }) => firstSeq !== found.at(-1)?.firstSeq);
  const limits = compactionLimits(retentionDays, bucket !== null);
  const { merge, doneSeq } = chooseMerge(whole, limits, call.doneSeq, isEnded && isLast);
  if (merge === null) return { outcome: "idle", doneSeq, isLast };
  return mergeChosen(ports, call, merge, doneSeq);
}

/** Milliseconds after the deadline of a call until which it may put a file again that a row names; see `LATE_WRITES_MS`. */
const REPEAT_MS = 60_000;
const CHANGED: CompactionOutcome = { outcome: "failed", reason: "Segments have changed" };
const LATE: CompactionOutcome = { outcome: "failed", reason: "The compaction was too late" };

async function mergeChosen(
  ports: CompactionPorts,
  call: CompactionCall,
  merge: readonly Candidate[],
  doneSeq: number,
): Promise<CompactionOutcome> {
  const { store, now } = ports;
  const bucket = targetOf(ports);
  const { workspaceId, projectId } = call;
  const inputs = await store.inputs(workspaceId, projectId, merge);
  if (inputs.length !== merge.length) return CHANGED;
  const from = visibleFrom(
    now(),
    merge.map(({ part }) => part),
  );
  // A read between that time and a later swap would see the replaced segments on one page and the merged one on the next.
  const deadline = Math.min(call.deadline, from - SWAP_MS);
  let files: MergedFile[];
  try {
    files = await new Merge(ports, call, inputs, from).files();
  } catch (error) {
    if (!isDamage(error)) throw error;
    return mergeAround(ports, call, merge, inputs, doneSeq);
  }
  if (now() > deadline) return LATE;
  const rows = files.map((file) =>
    bucket !== null && isForBucket(file, true) ? placeInBucket(file, workspaceId) : placeInRow(file),
  );
  const put = async (until: number) => {
    for (const [index, { bytes, sha256 }] of files.entries()) {
      const key = rows[index]?.file ?? null;
      if (bucket !== null && key !== null) await bucket.putNew({ key, bytes, sha256 }, until);
      const filter = files[index]?.filterFile ?? null;
      if (bucket !== null && filter !== null) await bucket.putNew(filter, until);
    }
  };
  const filters = files.map(({ filterFile }) => filterFile?.key ?? null);
  const keys = [...rows.map(({ file }) => file), ...filters].filter((file) => file !== null);
  if (keys.length > 0) await store.noteFiles(workspaceId, keys, now());
  await put(call.deadline);
  if (now() > deadline) return LATE;
  if (!(await store.swap(workspaceId, merge, rows, from, filters))) return CHANGED;
  // A sweep of the version before may have deleted a file between the two writes.
  for (const key of keys) if ((await bucket?.head(key)) === null) await put(call.deadline + REPEAT_MS);
  // The file may be a part of a larger buffer, which is this call's own.
  for (const { bytes, filterFile } of files) {
    detachBuffer(new Uint8Array(bytes.buffer));
    if (filterFile !== null) detachBuffer(filterFile.bytes);
  }
  return {
    outcome: "merged",
    doneSeq,
    replaced: merge.length,
    segments: rows.length,
    entries: rows.reduce((sum, { count }) => sum + count, 0),
    bytes: rows.reduce((sum, { storedBytes }) => sum + storedBytes, 0),
  };
}

/**
 * Merges the ranges before the first one that cannot be read, or skips that one. If each can be read alone, all are skipped: a
 * project must not stop at them.
 */
async function mergeAround(
  ports: CompactionPorts,
  call: CompactionCall,
  merge: readonly Candidate[],
  inputs: readonly MergeInput[],
  doneSeq: number,
): Promise<CompactionOutcome> {
  const before: Candidate[][] = [];
  for (const range of rangesOf(merge)) {
    if (ports.now() > call.deadline) return LATE;
    const { firstSeq = 0, lastSeq = 0 } = range[0] ?? {};
    const own = inputs.filter((input) => input.firstSeq === firstSeq);
    const reason = await damageOf(() => new Merge(ports, call, own, 0).files());
    if (reason === null) before.push(range);
    // The next step skips the range if its neighbors are merged now.
    else if (isWorthwhile(before)) return mergeChosen(ports, call, before.flat(), doneSeq);
    else if ((await ports.store.inputs(call.workspaceId, call.projectId, own)).length < own.length) return CHANGED;
    else return { outcome: "skipped", doneSeq: lastSeq, firstSeq, reason };
  }
  const [first, last] = [merge[0], merge.at(-1)];
  const reason = "Segments cannot be merged with each other";
  return { outcome: "skipped", doneSeq: last?.lastSeq ?? doneSeq, firstSeq: first?.firstSeq ?? 0, reason };
}

/** @returns why something cannot be read; `null` if it can */
async function damageOf(read: () => Promise<unknown>): Promise<string | null> {
  try {
    await read();
    return null;
  } catch (error) {
    if (!isDamage(error)) throw error;
    // Messages of other errors may contain content of entries.
    const isOwn = error instanceof MalformedFile || error instanceof CorruptSegment;
    return isOwn ? error.message : error instanceof Error ? error.name : "unknown";
  }
}

/** Returns the bucket for new files. */
function targetOf({ bucket, isInD1Only = false }: CompactionPorts): Bucket | null {
  return isInD1Only ? null : bucket;
}
