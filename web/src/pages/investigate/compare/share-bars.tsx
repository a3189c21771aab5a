import { percent } from "../percent.ts";
import css from "./compare.module.css";

/** Two shares as bars, before above now; one if the other is `null`. */
export function ShareBars({ before, now }: { before: number | null; now: number }) {
  return (
    <span class={css.shares}>
      <span class={css.shareText}>
        {before === null ? null : `${percent(before)} → `}
        {percent(now)}
      </span>
      <span class={css.track} aria-hidden="true">
        {before === null ? null : <span class={css.beforeBar} style={{ width: `${100 * Math.min(1, before)}%` }} />}
        <span class={css.nowBar} style={{ width: `${100 * Math.min(1, now)}%` }} />
      </span>
    </span>
  );
}
