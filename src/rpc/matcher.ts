import type { MatchCall, Matched, TextMatchCall } from "../alerts/match-range.ts";

// Plain data only. These shapes cross versions during a deploy: add optional members and new methods only.

/** What workspace objects ask of a matcher object. */
export interface MatcherRpc {
  /** Counts entries by the rules of a project. Stores nothing. @returns `null` if there is no memory: try again later */
  matchByText(call: TextMatchCall): Promise<Matched | null>;
  /** The same, for workspace objects of versions before `matchByText`. */
  match(call: MatchCall): Promise<Matched | null>;
}
