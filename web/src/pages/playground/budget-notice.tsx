import type { LimitState } from "../../api/failure.ts";
import { clock, useNow } from "../../lib/now.ts";
import css from "./playground.module.css";

/** Shows that a budget is used up, and until when. */
export function BudgetNotice({ state, what }: { state: LimitState | null; what: string }) {
  const now = useNow();
  if (state === null || state.remaining > 0) return null;
  const left = state.resetAt * 1000 - now;
  if (left <= 0) return null;
  return (
    <div class={`${css.notes} ${css.doubt}`} role="status">
      <p>
        <b>No {what} left.</b> The limit is {state.limit} an hour for each IP address. Try again in{" "}
        <span class={css.digits}>{clock(left)}</span>.
      </p>
    </div>
  );
}

/** Explains why `count` entries exceed the budget; `null` if they fit or if the budget is unknown. */
export function useShortage(state: LimitState | null, count: number): string | null {
  const now = useNow();
  if (state === null) return null;
  const { limit, remaining, resetAt } = state;
  if (count > limit) return `Too many entries: the limit is ${limit} an hour for each IP address.`;
  if (count <= remaining || resetAt * 1000 <= now) return null;
  if (remaining === 0) return `No entries left. Try again in ${clock(resetAt * 1000 - now)}.`;
  return `Only ${remaining} ${remaining === 1 ? "entry" : "entries"} left. Refills in ${clock(resetAt * 1000 - now)}.`;
}
