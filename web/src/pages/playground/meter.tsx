import type { LimitState } from "../../api/failure.ts";
import { clock, useNow } from "../../lib/now.ts";
import css from "./meter.module.css";

/** How much of a limit is left: as a bar, as numbers, and when there is more again. */
export function Meter({ label, state, detail }: { label: string; state: LimitState; detail?: string }) {
  const now = useNow();
  const { limit, remaining, resetAt } = state;
  const left = resetAt * 1000 - now;
  const isFull = remaining >= limit;
  return (
    <div class={css.meter}>
      <div class={css.line}>
        <span class={css.label}>{label}</span>
        <span class={css.count}>
          <b>{remaining}</b> of {limit} left
        </span>
      </div>
      <meter
        class={css.track}
        aria-label={label}
        min={0}
        max={limit}
        low={limit / 5}
        high={limit / 2}
        optimum={limit}
        value={remaining}
      />
      <span class={css.reset}>
        {isFull ? "Nothing used in the last hour." : left > 0 ? `More in ${clock(left)}` : "There is more by now."}
        {detail ? ` ${detail}` : ""}
      </span>
    </div>
  );
}
