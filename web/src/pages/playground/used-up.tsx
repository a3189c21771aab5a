import type { LimitState } from "../../api/failure.ts";
import { clock, useNow } from "../../lib/now.ts";
import css from "./playground.module.css";

/** A budget with nothing left in it: what that stops, and until when. */
export function UsedUp({ state, what }: { state: LimitState | null; what: string }) {
  const now = useNow();
  if (state === null || state.remaining > 0) return null;
  const left = state.resetAt * 1000 - now;
  if (left <= 0) return null;
  return (
    <div class={`${css.notes} ${css.doubt}`} role="status">
      <p>
        <b>No {what} left.</b> An address has {state.limit} an hour. There is room again in{" "}
        <span class={css.digits}>{clock(left)}</span>.
      </p>
    </div>
  );
}

/** Why this many entries cannot go out now; null where they can, and where nobody has said what is left. */
export function useShortage(state: LimitState | null, count: number): string | null {
  const now = useNow();
  if (state === null) return null;
  const { limit, remaining, resetAt } = state;
  if (count > limit) return `${count} entries never fit: an address has ${limit} an hour. Take some out.`;
  if (count <= remaining || resetAt * 1000 <= now) return null;
  if (remaining === 0) return `Nothing more fits for ${clock(resetAt * 1000 - now)}.`;
  return `Only ${remaining} more ${remaining === 1 ? "fits" : "fit"} for ${clock(resetAt * 1000 - now)}. Take some out, or wait.`;
}
