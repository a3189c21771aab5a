import type { LimitState } from "../../api/failure.ts";
import { clock, useNow } from "../../lib/now.ts";
import css from "./meter.module.css";

/** Remaining units of a limit as a bar and as numbers, with the time of the next reset. */
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
        {isFull ? "Unused" : left > 0 ? `Refills in ${clock(left)}` : "Refilled"}
        {detail ? ` ${detail}` : ""}
      </span>
    </div>
  );
}
