import { DurableObject } from "cloudflare:workers";
import type { MatchCall, Matched, TextMatchCall } from "../../alerts/match-range.ts";
import type { Env } from "../../env.ts";
import type { MatcherRpc } from "../../rpc/matcher.ts";
import { answerMatchCall, LastRules } from "./match-call.ts";

/**
 * Tests entries by the filters of alert rules for a workspace object, whose single thread all ingest calls of the workspace
 * share. One object for each project with rules. It stores nothing: it only keeps the rules compiled.
 */
export class MatcherObject extends DurableObject<Env> implements MatcherRpc {
  readonly #rules = new LastRules();

  match(call: MatchCall): Promise<Matched | null> {
    return answerMatchCall(this.env, call, this.#rules.of(JSON.stringify(call.rules)));
  }

  matchByText(call: TextMatchCall): Promise<Matched | null> {
    return answerMatchCall(this.env, call, this.#rules.of(call.rules));
  }
}
