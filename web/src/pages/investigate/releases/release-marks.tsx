import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { DrawnReleases, MarkPlace } from "../../../charts/releases.ts";
import { groupedByPlace, type Release, releaseNames } from "../../../charts/releases.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import css from "./release-marks.module.css";
import { markDescription, markTooltip } from "./release-names.ts";
import type { ReleaseActs } from "./release-popover.tsx";
import { useReleaseChanges } from "./use-release-changes.ts";
import { type ReleaseScope, versionField } from "./version-fields.ts";

const POPOVER = lazyModule(() => import("./release-popover.tsx"));

/** Pixels between two signs, at least: the width of a button. */
const LEAST = 16;
/** Milliseconds that the pointer rests on a sign before its changes are loaded: fewer than before its tooltip appears. */
const REST_MS = 150;
/** Releases of one mark whose changes are loaded: their queries fit into one request. */
const LISTED = 6;

/** Releases that a drawing marks, and what its reader can do with one. */
export interface MarkedReleases extends ReleaseActs {
  scope: ReleaseScope;
  releases: readonly Release[];
}

type ReleaseMarksProps = MarkedReleases & MarkPlace;

/** Returns the releases of a drawing with their marks. */
export function drawnReleases(marked: MarkedReleases): DrawnReleases {
  return { releases: marked.releases, marks: (place) => <ReleaseMarks {...marked} {...place} /> };
}

/**
 * Where versions begin, over a drawing: one tab stop, in which the arrow keys move. A sign's tooltip and box show what its releases changed.
 * Releases that are close to each other share a sign, which is at the first; each has a line at its own time.
 */
export function ReleaseMarks({ scope, releases, from, to, width, inset, ...acts }: ReleaseMarksProps) {
  const { left, right, top, bottom } = inset;
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const [stop, setStop] = useState(0);
  /** Times of the first releases of the group that is open, and of the one that the pointer or the focus is on. */
  const [opened, setOpened] = useState<number | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const resting = useRef(0);
  useEffect(() => () => clearTimeout(resting.current), []);
  const popover = useLazy(POPOVER, opened !== null, () => setOpened(null));
  const field = versionField(scope);
  const isDrawn = to > from && width > left + right;
  const placeOf = (at: number): number => left + ((at - from) / (to - from)) * (width - left - right);
  const groups = isDrawn
    ? groupedByPlace(
        releases.filter(({ at }) => at >= from && at < to),
        placeOf,
        LEAST,
      )
    : [];
  const groupAt = (time: number | null) => groups.find(({ releases: [first] }) => first?.at === time);
  const shown = groupAt(opened);
  const told = (shown ?? groupAt(pointed))?.releases;
  const changes = useReleaseChanges(scope, told === undefined ? null : field, told?.slice(0, LISTED) ?? []);
  // Otherwise the popover would open without a click, and take the focus, when the release is in view again.
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
        style={{ top: `${top}px`, bottom: `${bottom}px` }}
        data-tooltip-below={AXIS}
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
          const known = each === told ? changes.data : null;
          const point = (): void => {
            POPOVER.preload();
            setPointed(first);
          };
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
                aria-label={`${each.length === 1 ? "Release" : "Releases"} ${releaseNames(each)}`}
                aria-description={markDescription(each, known)}
                aria-haspopup="dialog"
                aria-expanded={opened === first}
                data-tooltip={opened === first ? undefined : markTooltip(each, known)}
                data-count={each.length > 1 ? each.length : undefined}
                tabIndex={at === focusable ? 0 : -1}
                onPointerEnter={() => {
                  clearTimeout(resting.current);
                  resting.current = window.setTimeout(point, REST_MS);
                }}
                onPointerLeave={() => clearTimeout(resting.current)}
                onFocus={() => {
                  point();
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
          field={field}
          releases={shown.releases}
          changes={changes}
          listed={LISTED}
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

/** Pixels of the axis below a drawing, as in the style sheets. */
const AXIS = 22;
