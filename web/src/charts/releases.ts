import type { ComponentChildren } from "preact";
import { visible } from "../lib/visible.ts";
import { timeFormat } from "../lib/zone.ts";

/** Releases over the time axis of a drawing. The pages that draw find them. */

/** The first entry of a version in a span. */
export interface Release {
  version: string;
  /** `null` if its entries have none. */
  service: string | null;
  /** Epoch milliseconds. */
  at: number;
  /** The version of the service before; `null` if the span has no entry of it. */
  previous: string | null;
}

/** A release as an image marks it. */
export interface PicturedRelease extends Release {
  /** The first setting that it is known to have changed, and how many others; empty for none. */
  change: string;
}

/** Where a drawing has its marks. */
export interface MarkPlace {
  /** Times at the left and the right end of the drawing, epoch milliseconds. */
  from: number;
  to: number;
  /** Pixels of the element around the marks. */
  width: number;
  /** Pixels of this element that are around the drawing. Above it are the signs. */
  inset: Readonly<Record<"top" | "bottom" | "left" | "right", number>>;
}

/** The releases of a drawing, with the marks that its page makes of them: what these offer leads to other pages. */
export interface DrawnReleases {
  releases: readonly Release[];
  marks: (place: MarkPlace) => ComponentChildren;
  /** How the list below the drawing says a release; absent: the page lists those of several drawings once. */
  listed?: {
    /** The sign before it, as that of its mark; empty until that is drawn. */
    signOf: (release: Release) => string;
    /** The first setting that it changed; empty for none. */
    changeOf: (release: Release) => string;
  };
}

/** Releases that share a sign, which is in the middle of them. Each has a line at its own place. */
export interface ReleaseGroup {
  /** Of the sign. */
  place: number;
  places: number[];
  releases: Release[];
}

/**
 * Groups releases whose signs would be less than `least` apart, in the unit of `placeOf`.
 * @param room for signs: one at an end of the drawing stays within it
 */
export function groupedByPlace(
  releases: readonly Release[],
  placeOf: (at: number) => number,
  least: number,
  room: { from: number; to: number } = { from: -Infinity, to: Infinity },
): ReleaseGroup[] {
  const groups: ReleaseGroup[] = [];
  for (const release of releases) {
    const line = placeOf(release.at);
    let group = groupOf([line], [release], room);
    // A sign that moves to the middle of its group comes closer to the one before.
    for (
      let before = groups.at(-1);
      before !== undefined && group.place - before.place < least;
      before = groups.at(-1)
    ) {
      group = groupOf([...before.places, ...group.places], [...before.releases, ...group.releases], room);
      groups.pop();
    }
    groups.push(group);
  }
  return groups;
}

function groupOf(places: number[], releases: Release[], room: { from: number; to: number }): ReleaseGroup {
  const middle = ((places[0] ?? 0) + (places.at(-1) ?? 0)) / 2;
  return { place: Math.max(room.from, Math.min(room.to, middle)), places, releases };
}

/** Formats the time of a release. */
export const MOMENT = timeFormat({
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
});
const SHORT_MOMENT = timeFormat({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit" });
const DAY = timeFormat({ dateStyle: "short" });
/** Releases that a name or a tooltip lists. */
export const NAMED = 4;
/** Releases below a chart. */
const LISTED = 8;

export function releaseName({ service, version }: Release): string {
  return service === null ? version : `${service} ${version}`;
}

export function nameWithTime(release: Release): string {
  return visible(`${releaseName(release)}, ${MOMENT(release.at)}`);
}

/** Returns the line about those that a text does not list; none if it lists all. */
export function further(count: number): string[] {
  return count > 0 ? [`${count} more`] : [];
}

/** Returns the first releases with their times, and how many others there are. */
export function releaseLines(releases: readonly Release[]): string[] {
  const named = releases.slice(0, NAMED).map(nameWithTime);
  return [...named, ...further(releases.length - named.length)];
}

/** Returns the releases of a mark with their times. */
export function releaseNames(releases: readonly Release[]): string {
  return releaseLines(releases).join("; ");
}

/**
 * Returns the newest releases, the oldest of them first, each with its time: with the day unless all are of one.
 * @returns the number of earlier ones, too
 */
export function listedNames(releases: readonly Release[]): { names: string[]; earlier: number } {
  const shown = releases.slice(-LISTED);
  const days = new Set(shown.map(({ at }) => DAY(at)));
  const momentOf = days.size > 1 ? SHORT_MOMENT : CLOCK;
  const names = shown.map((release) => `${visible(releaseName(release))} ${momentOf(release.at)}`);
  return { names, earlier: releases.length - shown.length };
}
