import type { Env } from "../../src/env.ts";
import { WorkspaceObject as ServiceWorkspaceObject } from "../../src/objects/workspace/workspace.ts";
import { R2Files } from "../../src/platform/bucket.ts";
import handlers, { direct as service } from "../../src/worker.ts";

/**
 * The whole service, with the bindings of its wrangler.toml and two additions: the benchmark moves the clock and runs the
 * alarms, so that flush and compaction are measured one at a time and wait for nothing; and reads of the bucket are
 * counted. Never deployed.
 */

export { AddressObject } from "../../src/objects/address/address.ts";
export { CompactorObject } from "../../src/objects/compactor/compactor.ts";
export { MatcherObject } from "../../src/objects/matcher/matcher.ts";
export { ScannerObject } from "../../src/objects/scanner/scanner.ts";
export { UserObject } from "../../src/objects/user/user.ts";
export { ColdWriter, TailBacklog } from "../../src/objects/workspace/entrypoints.ts";

const realNow = Date.now.bind(Date);
let offsetMs = 0;
Date.now = () => realNow() + offsetMs;

/** A call of the bucket, by the numbers of the events that began and ended it. */
interface BucketCall {
  from: number;
  to: number;
  ranges: number;
}

let events = 0;
let calls: BucketCall[] = [];

async function counted<T>(ranges: number, read: () => Promise<T>): Promise<T> {
  const call = { from: events++, to: Number.POSITIVE_INFINITY, ranges };
  calls.push(call);
  try {
    return await read();
  } finally {
    call.to = events++;
  }
}

const { readRanges, readTail } = R2Files.prototype;
R2Files.prototype.readRanges = function (ranges) {
  return counted(ranges.length, () => readRanges.call(this, ranges));
};
R2Files.prototype.readTail = function (key, bytes) {
  return counted(1, () => readTail.call(this, key, bytes));
};

/** The largest number of calls that began only after the end of the one before: those that may depend on each other. */
function roundsOf(all: readonly BucketCall[]): number {
  let rounds = 0;
  let ended = -1;
  for (const { from, to } of all.toSorted((a, b) => a.to - b.to)) {
    if (from < ended) continue;
    rounds++;
    ended = to;
  }
  return rounds;
}

/** What waits in an object. Times are epoch milliseconds. */
export interface Waiting {
  now: number;
  /** Entries of the recent tier. */
  recent: number;
  /** Entries that have been flushed. */
  flushed: number;
  isFlushDue: boolean;
  /** When the next step of a compaction is due; `null` if nothing is left to merge. */
  compactionAt: number | null;
}

/** Bytes of the cold tier. Files that no current row names are left out. */
export interface StoredBytes {
  segments: number;
  entries: number;
  /** Rows that a compaction has replaced and that wait for their deletion. */
  replaced: number;
  files: number;
  fileBytes: number;
  filterBytes: number;
}

export class WorkspaceObject extends ServiceWorkspaceObject {
  constructor(ctx: DurableObjectState, env: Env) {
    stopAlarms(ctx.storage);
    super(ctx, env);
  }

  /** Runs the alarm's work once, and the compaction that it starts. */
  async step(): Promise<Waiting> {
    await this.alarm();
    await this.core.compaction.settled();
    return this.waiting();
  }

  async waiting(): Promise<Waiting> {
    const { sql } = this.ctx.storage;
    const now = Date.now();
    const { recent, flushed } = sql
      .exec("SELECT total(waiting_entries) AS recent, total(last_seq - waiting_entries) AS flushed FROM projects")
      .one();
    return {
      now,
      recent: Number(recent),
      flushed: Number(flushed),
      isFlushDue: (this.core.flush.dueAt(now) ?? Number.POSITIVE_INFINITY) <= now,
      compactionAt: this.core.compaction.dueAt(),
    };
  }
}

/** The runtime's alarms use the real clock. */
function stopAlarms(storage: DurableObjectStorage): void {
  const prototype: DurableObjectStorage = Object.getPrototypeOf(storage);
  prototype.setAlarm = async () => {};
}

interface DrivenEnv extends Env {
  WORKSPACES: DurableObjectNamespace<WorkspaceObject>;
}

async function storedBytes(env: DrivenEnv, workspaceId: string): Promise<StoredBytes> {
  const sizes = new Map<string, number>();
  for (let cursor: string | undefined, isDone = env.BUCKET === undefined; !isDone; ) {
    const page = await env.BUCKET?.list(cursor === undefined ? {} : { cursor });
    for (const { key, size } of page?.objects ?? []) sizes.set(key, size);
    cursor = page?.truncated ? page.cursor : undefined;
    isDone = cursor === undefined;
  }
  const { results } = await env.COLD_DB.prepare(
    "SELECT count, file, filter_file AS filter, replaced_at IS NOT NULL AS replaced FROM segments WHERE workspace_id = ?",
  )
    .bind(workspaceId)
    .all<{ count: number; file: string | null; filter: string | null; replaced: number }>();
  const current = results.filter(({ replaced }) => replaced === 0);
  const bytesOf = (keys: readonly (string | null)[]) =>
    [...new Set(keys)].reduce((sum, key) => sum + (key === null ? 0 : (sizes.get(key) ?? Number.NaN)), 0);
  const files = current.map(({ file }) => file);
  return {
    segments: current.length,
    entries: current.reduce((sum, { count }) => sum + count, 0),
    replaced: results.length - current.length,
    files: files.filter((file) => file !== null).length,
    fileBytes: bytesOf(files),
    filterBytes: bytesOf(current.map(({ filter }) => filter)),
  };
}

/**
 * Besides the service's routes: `GET /bench/<workspaceId>/<step | waiting | bytes | reads>`; `reads` returns what the
 * bucket was asked for since the last call. The header `X-Bench-Advance` moves the clock first, by milliseconds.
 */
export const direct = {
  async fetch(request, env, ctx) {
    offsetMs += Number(request.headers.get("X-Bench-Advance") ?? 0);
    const [, first, workspaceId = "", action] = new URL(request.url).pathname.split("/");
    if (first !== "bench") return service.fetch(request, env, ctx);
    const object = env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId));
    if (action === "step") return Response.json(await object.step());
    if (action === "waiting") return Response.json(await object.waiting());
    if (action === "bytes") return Response.json(await storedBytes(env, workspaceId));
    if (action === "reads") {
      const made = calls;
      calls = [];
      const ranges = made.reduce((sum, call) => sum + call.ranges, 0);
      return Response.json({ rounds: roundsOf(made), ranges });
    }
    return new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<DrivenEnv>;

export default { ...handlers, ...direct };
