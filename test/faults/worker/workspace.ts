import type { Env } from "../../../src/env.ts";
import { WorkspaceObject as ServiceWorkspaceObject } from "../../../src/objects/workspace/workspace.ts";
import { lastCommit } from "../../../src/workspace/recent/batches.ts";
import type { AlarmOrder, Held, Look } from "../protocol.ts";
import { chaos, pause } from "./chaos.ts";
import { hookBucket } from "./failing-bucket.ts";
import { hookD1 } from "./failing-d1.ts";

type RecentCall = Parameters<ServiceWorkspaceObject["recent"]>[0];
type CountCall = Parameters<ServiceWorkspaceObject["recentCounts"]>[0];
type StageCall = Parameters<ServiceWorkspaceObject["stageBatches"]>[0];
type SeqCall = Parameters<ServiceWorkspaceObject["readBySeq"]>[0];

/** Steps of the merges of a workspace: two for each of its projects, and one more. */
const MERGE_STEPS = 7;

/** Error message of calls to a killed object. */
export const KILLED = "The harness has killed this object.";

/** The workspace object, with methods to kill it, run its alarm and read its storage. */
export class WorkspaceObject extends ServiceWorkspaceObject {
  constructor(ctx: DurableObjectState, env: Env) {
    hookD1(env.DB);
    hookBucket(env.BUCKET);
    super(ctx, { ...env, ...chaos.plan.settings });
  }

  override async recent(call: RecentCall): ReturnType<ServiceWorkspaceObject["recent"]> {
    const { scan } = call;
    await pause(chaos.delay(chaos.plan.pages.delayMs));
    if (scan.position !== null) await this.#moveMaybe();
    const maxBytes = Math.min(scan.maxBytes, chaos.plan.pages.bytes);
    return super.recent({ ...call, scan: { ...scan, maxBytes } });
  }

  override async recentCounts(call: CountCall): ReturnType<ServiceWorkspaceObject["recentCounts"]> {
    await pause(chaos.delay(chaos.plan.pages.delayMs));
    if (call.scan.after > 0) await this.#moveMaybe();
    const { sql } = this.ctx.storage;
    const asOf = call.scan.asOf ?? lastCommit(sql);
    const { first } = sql.exec<{ first: number | null }>("SELECT MIN(commit_no) AS first FROM batches").one();
    const end = Math.min(asOf, Math.max(call.scan.after, (first ?? 0) - 1) + chaos.plan.pages.batches);
    const result = await super.recentCounts({ ...call, scan: { ...call.scan, asOf: end } });
    return result.ok ? { ...result, value: { ...result.value, asOf, next: end < asOf ? end : null } } : result;
  }

  /** Moves batches between two pages of a read; the next page must report what is in the cold tier by then. */
  async #moveMaybe(): Promise<void> {
    if (!chaos.strikes(chaos.plan.pages.moves, "moved between pages")) return;
    // Like an alarm: no response contains its error.
    await this.alarms({ times: 2, atOnce: false, isEager: true }).catch(() => {});
  }

  override async readBySeq(call: SeqCall): ReturnType<ServiceWorkspaceObject["readBySeq"]> {
    await pause(chaos.delay(chaos.plan.pages.delayMs));
    const result = await super.readBySeq(call);
    if (!result.ok) return result;
    const { batches } = result.value;
    const next = batches[chaos.plan.pages.batches];
    if (next === undefined) return result;
    const value = { ...result.value, batches: batches.slice(0, chaos.plan.pages.batches), through: next.firstSeq - 1 };
    return { ...result, value };
  }

  override async stageBatches(call: StageCall): ReturnType<ServiceWorkspaceObject["stageBatches"]> {
    const { abort, delayMs } = chaos.plan.writer;
    await pause(chaos.delay(delayMs));
    const result = await super.stageBatches(call);
    chaos.note("calls that staged batches");
    if (chaos.strikes(abort, "object died after it staged")) this.ctx.abort(KILLED);
    return result;
  }

  /** The caller gets no response. */
  async abortNow(): Promise<void> {
    this.ctx.abort(KILLED);
  }

  /** Runs the alarm's work, in addition to the alarms of the runtime. */
  async alarms({ times, atOnce, isEager }: AlarmOrder): Promise<void> {
    const alarms = async () => {
      chaos.note("alarms ordered");
      // Alarms of the runtime keep their due times. Otherwise a failed one would be followed by the next immediately.
      chaos.isEager = isEager;
      await this.alarm();
    };
    try {
      if (atOnce) await Promise.all(Array.from({ length: times }, alarms));
      else for (let time = 0; time < times; time++) await alarms();
    } finally {
      chaos.isEager = false;
    }
  }

  /**
   * Makes a merge due and runs the alarm. In the service, ranges are merged ten minutes after their flush, when no writer is
   * left that could insert them again; here, when all writers have ended.
   */
  async compactNow(waits: boolean): Promise<void> {
    const { sql } = this.ctx.storage;
    const flushed = sql.exec<{ num: number; seq: number }>("SELECT num, flushed_seq AS seq FROM projects").toArray();
    await chaos.writes.ended();
    for (const { num, seq } of flushed) {
      const update = "UPDATE compactions SET due_at = 0, began_at = NULL, ready_seq = ? WHERE project = ?";
      sql.exec(update, seq, num);
    }
    // A step merges the segments of one project.
    for (let step = 0; step < (waits ? MERGE_STEPS : 1); step++) {
      await this.alarm();
      if (waits) await chaos.merges.ended();
    }
  }

  /** @param ms by how much older all deletions become */
  async ageDeletions(ms: number): Promise<void> {
    this.ctx.storage.sql.exec("UPDATE doomed_projects SET doomed_at = doomed_at - ?, sweep_at = 0", ms);
  }

  async look(): Promise<Omit<Look, "segments" | "strayFiles" | "missingFiles">> {
    const { sql } = this.ctx.storage;
    const count = (query: string) => Number(sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM ${query}`).one().n);
    const projects = sql
      .exec<{ num: number; id: string; lastSeq: number; flushedSeq: number } & Record<keyof Held, number>>(
        `SELECT num, id, last_seq AS lastSeq, flushed_seq AS flushedSeq, waiting_batches AS batches,
           waiting_entries AS entries, waiting_bytes AS bytes FROM projects`,
      )
      .toArray()
      .map(({ num, id, lastSeq, flushedSeq, ...waiting }) => {
        const recent = sql.exec<Record<keyof Held, number>>(
          `SELECT COUNT(*) AS batches, COALESCE(SUM(count), 0) AS entries, COALESCE(SUM(body_bytes), 0) AS bytes
           FROM batches WHERE project = ? AND commit_no NOT IN (SELECT commit_no FROM set_aside)`,
          num,
        );
        return { id, lastSeq, flushedSeq, waiting, recent: recent.one() };
      });
    const state = sql.exec<{ reason: string | null }>("SELECT last_error AS reason FROM flush_state").toArray()[0];
    return {
      projects,
      orphans:
        count("batches WHERE project NOT IN (SELECT num FROM projects)") +
        count(
          `batch_parts WHERE commit_no NOT IN (SELECT COALESCE(parts_key, commit_no) FROM batches)
             AND commit_no NOT IN (SELECT parts_key FROM staged_batches)`,
        ) +
        count("receipts WHERE project NOT IN (SELECT num FROM projects)"),
      deletedProjects: count("doomed_projects"),
      intents: sql
        .exec<{ id: string }>("SELECT id FROM flush_intents JOIN projects ON num = project")
        .toArray()
        .map(({ id }) => id),
      setAside: count("set_aside"),
      lastError: state?.reason ?? null,
    };
  }
}
