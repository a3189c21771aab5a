import { WorkerEntrypoint } from "cloudflare:workers";
import { CompiledRules } from "../../alerts/compiled-rules.ts";
import type { MatchCall, Matched } from "../../alerts/match-range.ts";
import type { Env } from "../../env.ts";
import { answerMatchCall } from "../matcher/match-call.ts";

/**
 * Does the work of a matcher object that cannot be reached: during a deployment that brings the class, objects of both
 * versions run. Only workspace objects can call it, over the loopback binding of the worker's own exports.
 */
export class AlertMatcher extends WorkerEntrypoint<Env> {
  match(call: MatchCall): Promise<Matched | null> {
    return answerMatchCall(this.env, call, new CompiledRules(call.rules));
  }
}
