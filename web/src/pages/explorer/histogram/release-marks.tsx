import { useEffect, useId, useRef, useState } from "preact/hooks";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { releaseNames, releaseTooltip } from "../../investigate/releases/release-names.ts";
import type { ReleaseActs } from "../../investigate/releases/release-popover.tsx";
import { groupedByPlace, type Release } from "../../investigate/releases/releases.ts";
import { type ReleaseScope, versionField } from "../../investigate/releases/version-fields.ts";
import { PLOT } from "./bars.ts";
import css from "./release-marks.module.css";

const POPOVER = lazyModule(() => import("../../investigate/releases/release-popover.tsx"));

/** Pixels between two signs, at least: the width of a button. */
const LEAST = 16;

interface ReleaseMarksProps extends ReleaseActs {
  scope: ReleaseScope;
  releases: readonly Release[];
  /** Times at the left and the right end of the bars, epoch milliseconds. */
  from: number;
  to: number;
  /** Pixels of the chart. */
  width: number;
}

/**
 * Where versions begin, above the bars: one tab stop, in which the arrow keys move. A sign opens what its releases changed. Releases that
 * are close to each other share a sign; each has a line at its own time.
 */
export function ReleaseMarks({ scope, releases, from, to, width, ...acts }: ReleaseMarksProps) {
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const [stop, setStop] = useState(0);
  /** Time of the first release of the group that is open. */
  const [opened, setOpened] = useState<number | null>(null);
  const popover = useLazy(POPOVER, opened !== null, () => setOpened(null));
  const field = versionField(scope);
  const isDrawn = to > from && width > PLOT.left + PLOT.right;
  const placeOf = (at: number): number => PLOT.left + ((at - from) / (to - from)) * (width - PLOT.left - PLOT.right);
  const groups = isDrawn
    ? groupedByPlace(
        releases.filter(({ at }) => at >= from && at < to),
        placeOf,
        LEAST,
      )
    : [];
  const shown = groups.find(({ releases: [first] }) => first?.at === opened);
  // Otherwise the popover would open by itself, and take the focus, when the release is in view again.
  const isGone = opened !== null && shown === undefined;
  useEffect(() => {
    if (isGone) setOpened(null);
  }, [isGone]);
  if (groups.length === 0) return null;
  const focusable = Math.min(stop, groups.length - 1);
  const triggerOf = (at: number): string => `${id}-${at}`;
  return (
    <>
      <div
        ref={host}
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
        {groups.map(({ place, places, releases: each }, at) => {
          const first = each[0]?.at ?? 0;
          const name = `${each.length === 1 ? "Release" : "Releases"} ${releaseNames(each)}`;
          return (
            <div key={first}>
              {places.map((line, index) => (
                <div key={index} class={css.release} style={{ left: `${line}px` }} />
              ))}
              <button
                type="button"
                id={triggerOf(first)}
                class={css.sign}
                style={{ left: `${place - LEAST / 2}px` }}
                aria-label={name}
                aria-haspopup="dialog"
                aria-expanded={opened === first}
                data-tooltip={opened === first ? undefined : releaseTooltip(each)}
                data-tooltip-side="top"
                data-count={each.length > 1 ? each.length : undefined}
                tabIndex={at === focusable ? 0 : -1}
                onPointerEnter={POPOVER.preload}
                onFocus={() => {
                  POPOVER.preload();
                  setStop(at);
                }}
                onClick={() => setOpened(opened === first ? null : first)}
              />
            </div>
          );
        })}
      </div>
      {popover === null || shown === undefined || opened === null || field === null ? null : (
        <popover.ReleasePopover
          key={opened}
          {...scope}
          field={field}
          releases={shown.releases}
          triggerId={triggerOf(opened)}
          label={shown.releases.length === 1 ? "Release" : "Releases"}
          // Beside the whole line, so that the box covers no bar.
          anchor={() => {
            const plot = host.current?.getBoundingClientRect();
            return plot === undefined ? null : new DOMRect(plot.left + shown.place, plot.top, 0, plot.height + AXIS);
          }}
          onClose={() => setOpened(null)}
          {...acts}
        />
      )}
    </>
  );
}

/** Pixels of the axis below the bars, as in the style sheet. */
const AXIS = 22;
