import { percent } from "../percent.ts";
import css from "./compare.module.css";

/** Two shares as bars, before above now. */
export function ShareBars({ before, now }: { before: number; now: number }) {
  return (
    <span class={css.shares}>
      <span class={css.shareText}>
        {percent(before)} → {percent(now)}
      </span>
      <span class={css.track} aria-hidden="true">
        <span class={css.beforeBar} style={{ width: `${100 * Math.min(1, before)}%` }} />
        <span class={css.nowBar} style={{ width: `${100 * Math.min(1, now)}%` }} />
      </span>
    </span>
  );
}
