import type { MatchCall, Matched } from "../alerts/match-range.ts";

// Plain data only. These shapes cross versions during a deploy: add optional members and new methods only.

/** What workspace objects ask of a matcher object. */
export interface MatcherRpc {
  /** Counts entries by the rules of a project. Stores nothing. @returns `null` if there is no memory: try again later */
  match(call: MatchCall): Promise<Matched | null>;
}
