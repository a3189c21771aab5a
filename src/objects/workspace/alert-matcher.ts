import { WorkerEntrypoint } from "cloudflare:workers";
import type { Matched, TextMatchCall } from "../../alerts/match-range.ts";
import type { Env } from "../../env.ts";
import { answerMatchCall, LastRules } from "../matcher/match-call.ts";

/**
 * Does the work of a matcher object that cannot be reached: during a deployment that brings the class, objects of both
 * versions run. Only workspace objects can call it, over the loopback binding of the worker's own exports.
 */
export class AlertMatcher extends WorkerEntrypoint<Env> {
  matchByText(call: TextMatchCall): Promise<Matched | null> {
    return answerMatchCall(this.env, call, new LastRules().of(call.rules));
  }
}
