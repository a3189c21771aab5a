import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { DrawnReleases, MarkPlace, ReleaseGroup } from "../../../charts/releases.ts";
import { type Release, releaseNames } from "../../../charts/releases.ts";
import { lazyModule, useLazy } from "../../../ui/use-lazy.ts";
import {
  CHANGES_AT_ONCE,
  firstChangeOf,
  type KnownChanges,
  settledReleases,
  signsOf,
  useKnownChanges,
} from "./known-changes.ts";
import type { ReleaseChanges } from "./release-changes.ts";
import css from "./release-marks.module.css";
import { changingFirst, hasChanges, markDescription, markLabel, markTooltip, signOf } from "./release-names.ts";
import { LEAST, labelsBeside, placedGroups } from "./release-places.ts";
import type { ReleaseActs } from "./release-popover.tsx";
import { useReleaseChanges } from "./use-release-changes.ts";
import { type ReleaseScope, versionField } from "./version-fields.ts";

const POPOVER = lazyModule(() => import("./release-popover.tsx"));

/** Milliseconds that the pointer rests on a sign before its changes are loaded: fewer than before its tooltip appears. */
const REST_MS = 150;

/** Releases that a drawing marks, and what its reader can do with one. */
export interface MarkedReleases extends ReleaseActs {
  scope: ReleaseScope;
  releases: readonly Release[];
}

interface ReleaseMarksProps extends MarkedReleases, MarkPlace {
  /**
   * Names are beside the signs of those that changed a setting, where there is room: whether the background of a name would hide nothing
   * of the drawing there, in pixels from its start and its top. Absent: there are no names.
   */
  isFree?: (box: Readonly<Record<"start" | "end" | "top" | "bottom", number>>) => boolean;
}

/** Returns the releases of a drawing with their marks. @param isListed whether they are listed below it */
export function drawnReleases(marked: MarkedReleases, isListed = true): DrawnReleases {
  return {
    releases: marked.releases,
    marks: (place) => <ReleaseMarks {...marked} {...place} />,
    ...(isListed && { listed: { signOf: signsOf(marked.scope), changeOf: firstChangeOf(marked.scope) } }),
  };
}

/**
 * Where versions begin, over a drawing: one tab stop, in which the arrow keys move. A sign's tooltip and box show what its releases changed.
 * Releases that are close to each other share a sign, which is in the middle of them; each has a line at its own time. Those that came
 * with a changed setting have another sign and another line.
 */
export function ReleaseMarks({ scope, releases, isFree, ...rest }: ReleaseMarksProps) {
  const { from, to, width, inset, ...acts } = rest;
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
  const groups = placedGroups(releases, { from, to, width, inset });
  const changesOf = useKnownChanges(
    scope,
    groups.flatMap((group) => group.releases),
  );
  const isSettled = settledReleases(scope);
  const groupAt = (time: number | null) => groups.find(({ releases: [first] }) => first?.at === time);
  const shown = groupAt(opened);
  const toldOf = shown ?? groupAt(pointed);
  const toldNames = toldOf?.releases.map(({ service, version }) => `${service} ${version}`).join("\n");
  // An open box keeps its order, whatever is known later: what arrives moves no button under the pointer.
  const told = useMemo(() => toldOf && changingFirst(toldOf.releases, changesOf), [opened, toldNames, field]);
  const changes = useReleaseChanges(scope, told === undefined ? null : field, told?.slice(0, CHANGES_AT_ONCE) ?? []);
  const labels =
    isFree === undefined
      ? []
      : labelsBeside(groups, (group) => lineLabel(group, changesOf), labelWidth, {
          from: left,
          to: width,
          isFree: (start, end, isBelow) => {
            const top = isBelow ? LABEL_TOP.below : LABEL_TOP.beside;
            return isFree({ start, end, top, bottom: top + LABEL_HEIGHT });
          },
        });
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
        {groups.map((group, at) => {
          const { place, places } = group;
          const first = group.releases[0]?.at ?? 0;
          const isTold = told !== undefined && group === toldOf;
          const each = isTold ? told : changingFirst(group.releases, changesOf);
          const all = each.map(changesOf);
          const known = all.every(isDefined) ? all : isTold ? changes.data : null;
          const label = labels[at];
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
                  data-changed={group.releases[index] !== undefined && hasChanges(changesOf(group.releases[index]))}
                  style={{ left: `${line}px` }}
                />
              ))}
              {end > start ? <div class={css.joint} style={{ left: `${start}px`, width: `${end - start}px` }} /> : null}
              {label ? (
                // The name of the sign has it.
                <span
                  class={css.label}
                  data-over={label.isOver}
                  data-leader={label.leader}
                  style={{
                    left: `${label.left}px`,
                    top: `${label.leader !== null ? LABEL_TOP.below : LABEL_TOP.beside}px`,
                    width: `${label.width}px`,
                  }}
                  aria-hidden="true"
                >
                  {label.text}
                </span>
              ) : null}
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
      {popover === null || shown === undefined || told === undefined || opened === null || field === null ? null : (
        <popover.ReleasePopover
          key={opened}
          field={field}
          releases={told}
          changes={changes}
          signOf={(release) => signOf(changesOf(release))}
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

/** Returns the label of a mark, with the place of the line of the release that it names; `null` for none. */
function lineLabel({ place, places, releases }: ReleaseGroup, changesOf: KnownChanges) {
  const text = markLabel(releases, changesOf);
  const named = releases.findIndex((release) => hasChanges(changesOf(release)));
  return text === "" ? null : { text, line: places[named] ?? place };
}

let measuring: CanvasRenderingContext2D | null | undefined;

/** Returns the pixels of a label, with the space around its text: as in the style sheet. */
function labelWidth(text: string): number {
  measuring ??= document.createElement("canvas").getContext("2d");
  if (measuring === null) return Number.POSITIVE_INFINITY;
  measuring.font = '11px "Inter Variable", system-ui, sans-serif';
  return measuring.measureText(text).width + 2 * LABEL_SPACE;
}

const LABEL_SPACE = 3;
/** Pixels of a label, as in the style sheet, and of its top below that of the marks: beside a sign, or below the greatest one. */
const LABEL_HEIGHT = 14;
const LABEL_TOP = { beside: 1, below: 18 } as const;

/** Pixels from an end of a drawing within which a box in the middle of a mark would reach beyond it. */
const END = 240;

/** At which end a box begins or ends at its mark, so that it stays within the drawing. */
function sideOf(place: number, start: number, end: number): "bottom-start" | "bottom-end" | "bottom" {
  return place - start < END ? "bottom-start" : end - place < END ? "bottom-end" : "bottom";
}

/** Pixels of the axis below a drawing, as in the style sheets. */
const AXIS = 22;
