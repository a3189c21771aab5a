import { Duties, type Duty } from "../../platform/alarm.ts";
import type { Origin } from "../../platform/origin.ts";
import { deletedWorkspace } from "../../workspace/provision.ts";
import type { WorkspaceCore } from "./core.ts";

/** Milliseconds until the alarm reads the directory again after a failure. */
const RETRY_MS = 30_000;

/**
 * Returns the duties of a workspace object in order. A deleted workspace has only its deletion. Flush and cleanup are
 * near the end because they may wait for D1.
 */
export function workspaceDuties(core: WorkspaceCore, sandbox: Duty, tails: Duty): Duties {
  const { state, deletion, violations, housekeeping, mails, alerts, deliveries } = core;
  const { directory, flush, compaction, cleanup } = core;
  const creation = new CreationResolution(core);
  return new Duties(
    state.alarm,
    [
      deletion,
      violations,
      housekeeping,
      mails,
      alerts,
      deliveries,
      directory.changes,
      creation,
      directory.repair,
      flush,
      compaction,
      cleanup,
      sandbox,
      tails,
    ],
    {
      applies: (duty) =>
        state.row === null ? duty === deletion && deletedWorkspace(state.sql) !== null : duty !== deletion,
      failed: ({ name }, error, origin) => core.failed("workspace.alarm", error, origin, { duty: name }),
    },
  );
}

/** Resolves an interrupted creation: deletes the workspace after `resolveAt` unless the directory lists it. */
class CreationResolution implements Duty {
  readonly name = "creation";
  readonly #core: WorkspaceCore;
  /** When a failed attempt is repeated. */
  #retryAt: number | null = null;

  constructor(core: WorkspaceCore) {
    this.#core = core;
  }

  dueAt(): number | null {
    const resolveAt = this.#core.state.row?.resolveAt ?? null;
    return resolveAt === null ? null : (this.#retryAt ?? resolveAt);
  }

  async run(now: number, origin: Origin): Promise<void> {
    const resolveAt = this.#core.state.row?.resolveAt ?? null;
    if (resolveAt === null) return;
    this.#retryAt = null;
    try {
      // `now` is from before the read of the directory: only a read after `resolveAt` proves that no listing follows.
      if ((await this.#core.directory.slug()) === null && now >= resolveAt) await this.#core.deleteWorkspace(origin);
    } catch (error) {
      this.#core.failed("workspace.settle", error, origin);
      this.#retryAt = Date.now() + RETRY_MS;
    }
  }
}
