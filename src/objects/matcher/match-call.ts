import { CompiledRules } from "../../alerts/compiled-rules.ts";
import { type Matched, type MatchedRange, matchRange } from "../../alerts/match-range.ts";
import type { Counted } from "../../alerts/matcher.ts";
import type { Env } from "../../env.ts";
import type { ReportUnreadable } from "../../logs/batch.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { detachBuffer, flushMemory } from "../../platform/isolate-memory.ts";
import { logEvent } from "../../platform/log.ts";
import { settingsOf } from "../../settings.ts";
import { heldBytes } from "../../workspace/flush/schedule.ts";

/** Milliseconds that matching waits for memory. */
const MEMORY_WAIT_MS = 10_000;
/** Bytes of a step of the cold tier: lines of 10,000 entries or one large batch. */
const COLD_BYTES = 4 * 1024 * 1024;

/**
 * Tests the entries of a call by the filters of its rules.
 * @returns `null` if there is no memory: try again later
 */
export async function answerMatchCall(env: Env, call: MatchedRange, rules: CompiledRules): Promise<Matched | null> {
  const { workspaceId, projectId, batches } = call;
  const bytes =
    batches?.reduce((sum, { size, body }) => Math.max(sum, heldBytes(size ?? 0, body.length)), 0) ?? COLD_BYTES;
  const lease = await flushMemory.take(Math.min(flushMemory.capacity, bytes), MEMORY_WAIT_MS);
  if (lease === null) return null;
  const report: ReportUnreadable = ({ message: fault }, unreadable) => {
    const line = { event: "workspace.alerts.read", outcome: "unreadable", workspaceId, projectId, fault, unreadable };
    logEvent(settingsOf(env).LOG_LEVEL, "error", line);
  };
  try {
    return await matchRange(new ColdTier(env), call, rules, report);
  } finally {
    lease.release();
    // The call has copies of its own.
    for (const { body } of batches ?? []) detachBuffer(body);
  }
}

/** The rules of the last call, compiled. */
export class LastRules {
  #text = "";
  #rules = new CompiledRules([]);

  /** @param text see `TextMatchCall.rules` */
  of(text: string): CompiledRules {
    if (text !== this.#text) {
      // SAFETY: workspace objects write it.
      this.#rules = new CompiledRules(JSON.parse(text) as Counted[]);
      this.#text = text;
    }
    return this.#rules;
  }
}
