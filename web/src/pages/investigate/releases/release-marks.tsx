import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { DrawnReleases, MarkPlace } from "../../../charts/releases.ts";
import { groupedByPlace, type Release, releaseNames } from "../../../charts/releases.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import { CHANGES_AT_ONCE, settledReleases, signsOf, useKnownChanges } from "./known-changes.ts";
import type { ReleaseChanges } from "./release-changes.ts";
import css from "./release-marks.module.css";
import { hasChanges, markDescription, markTooltip } from "./release-names.ts";
import type { ReleaseActs } from "./release-popover.tsx";
import { useReleaseChanges } from "./use-release-changes.ts";
import { type ReleaseScope, versionField } from "./version-fields.ts";

const POPOVER = lazyModule(() => import("./release-popover.tsx"));

/** Pixels between two signs, at least: the width of a button. */
const LEAST = 16;
/** Milliseconds that the pointer rests on a sign before its changes are loaded: fewer than before its tooltip appears. */
const REST_MS = 150;

/** Releases that a drawing marks, and what its reader can do with one. */
export interface MarkedReleases extends ReleaseActs {
  scope: ReleaseScope;
  releases: readonly Release[];
}

type ReleaseMarksProps = MarkedReleases & MarkPlace;

/** Returns the releases of a drawing with their marks. @param isListed whether they are listed below it */
export function drawnReleases(marked: MarkedReleases, isListed = true): DrawnReleases {
  return {
    releases: marked.releases,
    marks: (place) => <ReleaseMarks {...marked} {...place} />,
    ...(isListed && { signOf: signsOf(marked.scope) }),
  };
}

/**
 * Where versions begin, over a drawing: one tab stop, in which the arrow keys move. A sign's tooltip and box show what its releases changed.
 * Releases that are close to each other share a sign, which is in the middle of them; each has a line at its own time. Those that came
 * with a changed setting have another sign and another line.
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
  const within = isDrawn ? releases.filter(({ at }) => at >= from && at < to) : [];
  // A sign beyond an end would cover the scale.
  const groups = groupedByPlace(within, placeOf, LEAST, { from: left + LEAST / 2, to: width - right - LEAST / 2 });
  const changesOf = useKnownChanges(scope, within);
  const isSettled = settledReleases(scope);
  const groupAt = (time: number | null) => groups.find(({ releases: [first] }) => first?.at === time);
  const shown = groupAt(opened);
  const told = (shown ?? groupAt(pointed))?.releases;
  const changes = useReleaseChanges(scope, told === undefined ? null : field, told?.slice(0, CHANGES_AT_ONCE) ?? []);
  // Otherwise the popover would open without a click, and take the focus, when the release is in view again.
  const isGone = opened !== null && shown === undefined;
  useEffect(() => {
    if (isGone) setOpened(null);
  }, [isGone]);
  if (groups.length === 0) return null;
  const drawn = groups.flatMap(({ releases }, at) => (releases.every(isSettled) ? [at] : []));
  const focusable = drawn.find((at) => at >= stop) ?? drawn.at(-1);
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
          const end = drawn.length - 1;
          const at = drawn.indexOf(focusable ?? 0);
          const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: end }[key];
          if (next === undefined) return;
          event.preventDefault();
          currentTarget.querySelectorAll("button")[drawn[Math.max(0, Math.min(end, next))] ?? 0]?.focus();
        }}
      >
        {groups.map(({ place, places, releases: each }, at) => {
          const first = each[0]?.at ?? 0;
          const all = each.map(changesOf);
          const known = all.every(isDefined) ? all : each === told ? changes.data : null;
          const ends = [place, places[0] ?? place, places.at(-1) ?? place];
          const [start, end] = [Math.min(...ends), Math.max(...ends)];
          const point = (): void => {
            POPOVER.preload();
            setPointed(first);
          };
          return (
            // In its place, but not drawn before its shape is known: it does not change while it is seen.
            <div key={first} class={css.group} data-settled={each.every(isSettled)}>
              {places.map((line, index) => (
                <div
                  key={index}
                  class={css.release}
                  data-changed={hasChanges(all[index])}
                  style={{ left: `${line}px` }}
                />
              ))}
              {end > start ? <div class={css.joint} style={{ left: `${start}px`, width: `${end - start}px` }} /> : null}
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
                data-changed={all.some(hasChanges)}
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
          listed={CHANGES_AT_ONCE}
          triggerId={triggerOf(opened)}
          label={shown.releases.length === 1 ? "Release" : "Releases"}
          placement={sideOf(shown.place, left, width - right)}
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

function isDefined(changes: ReleaseChanges | undefined): changes is ReleaseChanges {
  return changes !== undefined;
}

/** Pixels from an end of a drawing within which a box in the middle of a mark would reach beyond it. */
const END = 200;

/** At which end a box begins or ends at its mark, so that it stays within the drawing. */
function sideOf(place: number, start: number, end: number): "bottom-start" | "bottom-end" | "bottom" {
  return place - start < END ? "bottom-start" : end - place < END ? "bottom-end" : "bottom";
}

/** Pixels of the axis below a drawing, as in the style sheets. */
const AXIS = 22;
