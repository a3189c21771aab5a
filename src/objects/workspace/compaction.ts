import type { CompactionCall, CompactionOutcome } from "../../logs/cold/compaction/compact.ts";
import type { Duty } from "../../platform/alarm.ts";
import { type Backoff, delayOf } from "../../platform/backoff.ts";
import type { EventFields, EventLevel } from "../../platform/log.ts";
import type { Origin } from "../../platform/origin.ts";
import {
  beginCompaction,
  completeCompaction,
  continueCompaction,
  nextCompaction,
  type ProjectCompaction,
} from "../../workspace/flush/compactions.ts";
import type { WorkspaceState } from "../../workspace/state.ts";

/** Whether segments are merged. Readers of the version before do not know segment files. */
export const IS_COMPACTING = true;

/** Milliseconds after its start in which a step may write. */
const STEP_MS = 120_000;
/** Milliseconds after which a step without a response counts as failed; none of its writes arrives later. */
const ANSWER_MS = 180_000;
const RETRY: Backoff = { firstMs: 60_000, maxMs: 3_600_000 };

export interface CompactionPorts {
  /** Whether segments are merged at all. */
  isOn: boolean;
  /** Calls the compactor object. */
  compact: (call: CompactionCall) => Promise<CompactionOutcome>;
  log: (level: EventLevel, origin: Origin, fields: EventFields) => void;
}

/**
 * Has segments of the cold tier merged, one step at a time. An alarm run starts a step and does not wait for it, so that
 * flushes continue. Segments of the last minutes are not merged, so neither is a range that a flush still writes.
 */
export class Compaction implements Duty {
  readonly name = "compaction";
  readonly #state: WorkspaceState;
  readonly #ports: CompactionPorts;
  readonly #sync: () => Promise<void>;
  #running: Promise<void> | null = null;
  #failures = 0;

  /** @param sync resolves when all writes of this object are durable */
  constructor(state: WorkspaceState, sync: () => Promise<void>, ports: CompactionPorts) {
    this.#state = state;
    this.#sync = sync;
    this.#ports = ports;
  }

  /** Resolves when no step is running. */
  async settled(): Promise<void> {
    await this.#running;
  }

  dueAt(): number | null {
    if (!this.#ports.isOn || this.#state.row === null) return null;
    const next = nextCompaction(this.#state.sql);
    if (next === null) return null;
    // A step of this object, or of an earlier instance, may still write.
    return next.beganAt === null ? next.dueAt : Math.max(next.dueAt, next.beganAt + ANSWER_MS);
  }

  run(now: number, origin: Origin): void {
    const dueAt = this.dueAt();
    const { row, sql } = this.#state;
    if (this.#running !== null || row === null || dueAt === null || dueAt > now) return;
    const next = nextCompaction(sql);
    if (next === null) return;
    this.#state.transaction((admission) => beginCompaction(admission.sql, next.project, now));
    const { id: workspaceId, retentionDays } = row;
    const { projectId, doneSeq, readySeq } = next;
    const call = { workspaceId, projectId, doneSeq, readySeq, retentionDays, deadline: now + STEP_MS };
    this.#running = this.#step(next, call, origin).finally(() => {
      this.#running = null;
      const at = this.dueAt();
      if (at !== null) this.#state.alarm.by(at);
    });
  }

  /** Throws nothing. */
  async #step(next: ProjectCompaction, call: CompactionCall, origin: Origin): Promise<void> {
    const startedAt = Date.now();
    const outcome = await this.#outcome(call);
    const now = Date.now();
    const { project, projectId } = next;
    const fields = { event: "workspace.compaction", workspaceId: call.workspaceId, projectId };
    try {
      this.#state.transaction(({ sql }) => this.#record(sql, project, outcome, now));
    } catch {
      // The storage failed. The step is repeated after `ANSWER_MS`.
    }
    if (outcome.outcome === "failed") {
      this.#ports.log("error", origin, { ...fields, outcome: "failed", reason: outcome.reason });
    } else if (outcome.outcome === "skipped") {
      const { reason, firstSeq, doneSeq: lastSeq } = outcome;
      this.#ports.log("error", origin, { ...fields, outcome: "skipped", firstSeq, lastSeq, reason });
    } else if (outcome.outcome === "merged") {
      const { replaced, segments, entries: count, bytes } = outcome;
      const durationMs = now - startedAt;
      this.#ports.log("info", origin, { ...fields, outcome: "ok", replaced, segments, count, bytes, durationMs });
    }
  }

  #record(sql: SqlStorage, project: number, outcome: CompactionOutcome, now: number): void {
    if (outcome.outcome === "failed") {
      continueCompaction(sql, project, 0, now + delayOf(RETRY, this.#failures++));
      return;
    }
    this.#failures = 0;
    if (outcome.outcome === "idle" && outcome.isLast) completeCompaction(sql, project, outcome.doneSeq, now);
    else continueCompaction(sql, project, outcome.doneSeq, now);
  }

  async #outcome(call: CompactionCall): Promise<CompactionOutcome> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<CompactionOutcome>((resolve) => {
      timer = setTimeout(
        () => resolve({ outcome: "failed", reason: "The compactor did not respond in time" }),
        ANSWER_MS,
      );
    });
    try {
      // The intent is on disk before anything is written elsewhere.
      await this.#sync();
      return await Promise.race([this.#ports.compact(call), late]);
    } catch {
      // The messages of these errors are the runtime's, about calls and connections.
      return { outcome: "failed", reason: "The compactor cannot be reached" };
    } finally {
      clearTimeout(timer);
    }
  }
}
