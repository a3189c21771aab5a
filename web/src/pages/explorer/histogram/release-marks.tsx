import { useState } from "preact/hooks";
import { releaseNames, releaseTooltip } from "../../investigate/releases/release-names.ts";
import { groupedByPlace, type Release } from "../../investigate/releases/releases.ts";
import { type Bar, PLOT } from "./bars.ts";
import css from "./release-marks.module.css";

/** Pixels between two marks, at least: the width of a button. */
const LEAST = 16;

interface ReleaseMarksProps {
  releases: readonly Release[];
  bars: readonly Bar[];
  /** Pixels of the chart. */
  width: number;
  /** Called with the releases of a mark. */
  onPick: (releases: readonly Release[]) => void;
}

/** Where versions begin, above the bars: one tab stop, in which the arrow keys move. */
export function ReleaseMarks({ releases, bars, width, onPick }: ReleaseMarksProps) {
  const [stop, setStop] = useState(0);
  const [first, last] = [bars[0], bars.at(-1)];
  if (first === undefined || last === undefined || width <= PLOT.left + PLOT.right) return null;
  const [from, to] = [first.start, last.end];
  const placeOf = (at: number): number => PLOT.left + ((at - from) / (to - from)) * (width - PLOT.left - PLOT.right);
  const groups = groupedByPlace(
    releases.filter(({ at }) => at >= from && at < to),
    placeOf,
    LEAST,
  );
  if (groups.length === 0) return null;
  const focusable = Math.min(stop, groups.length - 1);
  return (
    <div
      class={css.releases}
      role="toolbar"
      aria-label="Releases"
      onKeyDown={(event) => {
        const { key, currentTarget } = event;
        const end = groups.length - 1;
        const next = { ArrowLeft: focusable - 1, ArrowRight: focusable + 1, Home: 0, End: end }[key];
        if (next === undefined) return;
        event.preventDefault();
        currentTarget.querySelectorAll("button")[Math.max(0, Math.min(end, next))]?.focus();
      }}
    >
      {groups.map(({ place, releases: each }, at) => {
        const tooltip = releaseTooltip(each);
        const name = `${each.length === 1 ? "Release" : "Releases"} ${releaseNames(each)}`;
        return (
          <div key={each[0]?.at} class={css.release} style={{ left: `${place}px` }}>
            <button
              type="button"
              class={css.sign}
              aria-label={name}
              data-tooltip={tooltip}
              data-count={each.length > 1 ? each.length : undefined}
              tabIndex={at === focusable ? 0 : -1}
              onFocus={() => setStop(at)}
              onClick={() => onPick(each)}
            />
          </div>
        );
      })}
    </div>
  );
}
