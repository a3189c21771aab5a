import type { Matched, TextMatchCall } from "../../alerts/match-range.ts";
import type { ProjectAlerts } from "../../alerts/project-alerts.ts";
import type { Env } from "../../env.ts";
import { detachBuffer } from "../../platform/isolate-memory.ts";
import { matcherOf } from "../../rpc/call.ts";
import type { ProjectRow } from "../../workspace/projects.ts";
import { nextBySeq } from "../../workspace/recent/reader.ts";
import type { WorkspaceRow } from "../../workspace/settings.ts";
import type { WorkspaceState } from "../../workspace/state.ts";
import type { AlertMatcher } from "./alert-matcher.ts";

/** Milliseconds after which the answer of a call is not awaited any longer. */
const ANSWER_MS = 60_000;
/** Milliseconds for which matcher objects are not called after one could not be reached. */
const WITHOUT_MATCHERS_MS = 60_000;

/** Has entries of a project matched beside the workspace object. */
export class Matching {
  readonly #ctx: DurableObjectState;
  readonly #env: Env;
  readonly #state: WorkspaceState;
  #withoutMatchersUntil = 0;

  constructor(ctx: DurableObjectState, env: Env, state: WorkspaceState) {
    this.#ctx = ctx;
    this.#env = env;
    this.#state = state;
  }

  /**
   * Counts the next entries after the position of a project's rules. Throws if that must be repeated later.
   * @returns what was counted, in parts of one turn
   */
  async match(row: WorkspaceRow, project: ProjectRow, alerts: ProjectAlerts): Promise<Matched[]> {
    const { sql, index } = this.#state;
    const { seq: after, through: decided } = alerts.position;
    const next = nextBySeq(sql, index, project, 0, after);
    const { hitsAtOnce, hitsOfRun } = alerts.evaluator;
    const call = {
      workspaceId: row.id,
      projectId: project.id,
      rules: alerts.counted,
      floor: decided + 1,
      hitsAtOnce,
      hitsOfRun,
    };
    if (next.tier === "cold") return this.#call({ ...call, range: { after, until: next.until }, batches: null });
    const { through, batches } = next.page;
    const matched = await this.#call({ ...call, range: { after, until: through }, batches });
    // The matcher has received copies.
    for (const { body } of batches) detachBuffer(body);
    return matched;
  }

  async #call(call: TextMatchCall): Promise<Matched[]> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), ANSWER_MS);
    });
    try {
      const matched = await Promise.race([this.#answer(call), late]);
      if (matched === null) throw new Error("Matching has no memory or takes too long.");
      const { rest = [], ...first } = matched;
      return [first, ...rest];
    } finally {
      clearTimeout(timer);
    }
  }

  async #answer(call: TextMatchCall): Promise<Matched | null> {
    const { MATCHERS } = this.#env;
    if (MATCHERS !== undefined && Date.now() >= this.#withoutMatchersUntil) {
      try {
        return await matcherOf(MATCHERS, call.projectId).matchByText(call);
      } catch {
        // The class or the method may be missing where an earlier version still runs.
        this.#withoutMatchersUntil = Date.now() + WITHOUT_MATCHERS_MS;
      }
    }
    // SAFETY: worker.ts exports the class under this name, and the runtime gives every export a loopback binding.
    const exports = this.#ctx.exports as unknown as { AlertMatcher: Pick<AlertMatcher, "matchByText"> };
    return exports.AlertMatcher.matchByText(call);
  }
}
