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
        {before === null ? null : <span class={css.beforeBar} style={{ width: widthOf(before) }} />}
        <span class={css.nowBar} style={{ width: widthOf(now) }} />
      </span>
    </span>
  );
}

/** At least a pixel, but for no entries at all. */
function widthOf(share: number): string {
  return share === 0 ? "0" : `max(1px, ${100 * Math.min(1, share)}%)`;
}
