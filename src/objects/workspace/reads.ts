import { COUNTED, chargeMembers, chargeOf, type LimitState } from "../../limits/state.ts";
import type { RecentBatch } from "../../logs/batch.ts";
import type { RecentCountPage, RecentCountScan } from "../../logs/stats/recent-counts.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import { readScheduler } from "../../platform/turns.ts";
import { OutdatedRouter } from "../../rpc/call.ts";
import type { PageResult, ReadCall, ReadPage } from "../../rpc/workspace.ts";
import { admit } from "../../workspace/admission.ts";
import { writtenDatabases } from "../../workspace/flush/cold-databases.ts";
import { hasFlushedRanges } from "../../workspace/flush/flushed-ranges.ts";
import { hasFiles } from "../../workspace/flush/segment-files.ts";
import { roleFor, unknownCaller } from "../../workspace/permissions.ts";
import { findProjectByNum, readableProjects } from "../../workspace/projects.ts";
import {
  type RecentPage,
  type RecentScan,
  type RecentScope,
  readBySeq,
  readRecent,
  readRecentCounts,
  type SeqPage,
  type SeqScan,
} from "../../workspace/recent/reader.ts";
import { retentionCutoff } from "../../workspace/settings.ts";
import type { WorkspaceCore } from "./core.ts";

/** Milliseconds between two pages, over all reads of the isolate: about the time that one page takes. */
const PAGE_MS = 5;
/** Like `PAGE_MS`, for pages of counts. */
const COUNTS_MS = 3;

function pageOf<T>(page: T, limit: LimitState | null, projectId: string | null): ReadPage<T> {
  return { ok: true, value: page, page, limit, projectId };
}

/**
 * Milliseconds after which the bodies of a page are freed. The runtime copies a result in the turn in which its promise
 * resolves, before any timer. Changed only by tests: their runner passes results on in further turns.
 */
export const SENT_PAGES = { freedAfterMs: 20 };

/** Frees the bodies of a page after it was sent. */
function freeSent(result: PageResult<{ batches: readonly RecentBatch[] }>): void {
  if (!result.ok || result.value === undefined) return;
  const { batches } = result.value;
  setTimeout(() => {
    for (const { body } of batches) detachBuffer(body);
  }, SENT_PAGES.freedAfterMs);
}

/** Answers reads of the recent tier, each page in one admission. */
export class Reads {
  readonly #core: WorkspaceCore;

  constructor(core: WorkspaceCore) {
    this.#core = core;
  }

  /** Returns a page of the recent batches that a query may need. */
  async recent({ scan, ...call }: ReadCall & { scan: RecentScan }): Promise<PageResult<RecentPage>> {
    await (scan.position === null ? readScheduler.begin(PAGE_MS) : readScheduler.take(PAGE_MS));
    const result = await this.#recentPage(call, scan);
    readScheduler.end();
    if (result.ok && scan.position !== null && !scan.followsMoves) this.#core.flush.pins.renew(Date.now());
    freeSent(result);
    return result;
  }

  async #recentPage(call: ReadCall, scan: RecentScan): Promise<PageResult<RecentPage>> {
    const { index } = this.#core.state;
    const first = this.#read(call, (sql, scope) => readRecent(sql, index, scan, scope));
    if (!first.ok) return first;
    const { value, limit = null, projectId = null, databases = [] } = first;
    if (value.ok) return { ...pageOf(value.page, limit, projectId), databases };
    const { selection } = value;
    const found = await index.selectInTurns(selection, () => scheduler.wait(0));
    // The credential is checked again; the request has been counted.
    const again = { ...scan, asOf: selection.asOf };
    const second = this.#read({ ...call, ...chargeMembers(COUNTED) }, (sql, scope) =>
      readRecent(sql, index, again, scope, found),
    );
    if (!second.ok) return { ...second, limit };
    if (!second.value.ok) throw new Error("A selection must produce a page.");
    return { ...pageOf(second.value.page, limit, projectId), databases: second.databases ?? databases };
  }

  /** Returns a page of counts of recent batches. */
  async recentCounts({ scan, ...call }: ReadCall & { scan: RecentCountScan }): Promise<PageResult<RecentCountPage>> {
    await (scan.after === 0 ? readScheduler.begin(COUNTS_MS) : readScheduler.take(COUNTS_MS));
    const result = this.#read(call, (sql, scope) => readRecentCounts(sql, scan, scope));
    readScheduler.end();
    if (result.ok && scan.after > 0 && !scan.followsMoves) this.#core.flush.pins.renew(Date.now());
    return result;
  }

  /** @throws OutdatedRouter */
  #read<T>(
    { caller, projectId, readsColdDb = false, readsFiles = false, ...charged }: ReadCall,
    read: (sql: SqlStorage, scope: RecentScope) => T,
  ): PageResult<T> {
    const { row, sql } = this.#core.state;
    if (row !== null && ((!readsColdDb && hasFlushedRanges(sql)) || (!readsFiles && hasFiles(sql)))) {
      throw new OutdatedRouter();
    }
    const requirement = { scope: "logs:read", role: roleFor("logs.read"), projectId } as const;
    const result = this.#core.state.transaction(({ sql, ...admission }, row): PageResult<T> => {
      const admitted = admit({ sql, ...admission }, caller, requirement, chargeOf(charged), Date.now());
      if (!admitted.ok) return admitted;
      const { limit, project, grantId } = admitted;
      const scope = { name: project?.id ?? grantId ?? row.id, projects: readableProjects(sql, admitted) };
      const page = read(sql, { ...scope, oldest: retentionCutoff(row.retentionDays, Date.now()) });
      return { ...pageOf(page, limit, project?.id ?? null), databases: writtenDatabases(sql) };
    });
    return result ?? unknownCaller(caller);
  }

  /** Returns batches of one project by the `seq` of their entries. */
  bySeq({ scan, ...call }: ReadCall & { scan: SeqScan }): PageResult<SeqPage> {
    const result = this.#read(call, (sql, { projects: [named], oldest }) => {
      const project = named && findProjectByNum(sql, named.num);
      if (!project) throw new Error("A read by seq must name its project.");
      return readBySeq(sql, this.#core.state.index, project, oldest, scan);
    });
    freeSent(result);
    return result;
  }
}
