import { groupedByPlace, type MarkPlace, type Release, type ReleaseGroup } from "../../../charts/releases.ts";

/** Where a drawing has the signs of its releases, and what is written beside them. */

/** Pixels between two signs, at least: the width of a button. */
export const LEAST = 16;

/** Returns the releases within a drawing by their signs; none before it has its size. */
export function placedGroups(releases: readonly Release[], { from, to, width, inset }: MarkPlace): ReleaseGroup[] {
  const { left, right } = inset;
  if (to <= from || width <= left + right) return [];
  const placeOf = (at: number): number => left + ((at - from) / (to - from)) * (width - left - right);
  const within = releases.filter(({ at }) => at >= from && at < to);
  // A sign beyond an end would cover the scale.
  return groupedByPlace(within, placeOf, LEAST, { from: left + LEAST / 2, to: width - right - LEAST / 2 });
}

/** A text beside a sign, or below the signs: pixels from the start of the drawing's element. */
export interface MarkLabel {
  text: string;
  left: number;
  width: number;
  isBelow: boolean;
}

/** Pixels from the middle of a sign to its end: of one release, and of several, with their number. */
const HALF = { one: 8, several: 10 } as const;
/** Pixels between a sign or a line and a label, and between two labels, at least. */
const APART = 4;

/**
 * Returns a label for each group: after its sign and its lines, or before them; where signs leave no room for it, below them, over the
 * lines of other groups. `null` without text, or without room there, too.
 * @param textOf empty for a group without a label
 * @param widthOf pixels of a text
 */
export function labelsBeside(
  groups: readonly ReleaseGroup[],
  textOf: (group: ReleaseGroup) => string,
  widthOf: (text: string) => number,
  room: { from: number; to: number },
): (MarkLabel | null)[] {
  const halves = groups.map(({ places }) => (places.length > 1 ? HALF.several : HALF.one));
  const starts = groups.map(({ place, places }, at) => Math.min(place - (halves[at] ?? 0), ...places));
  const ends = groups.map(({ place, places }, at) => Math.max(place + (halves[at] ?? 0), ...places));
  let taken = room.from;
  let takenBelow = room.from;
  return groups.map((group, at) => {
    const text = textOf(group);
    const [start, end] = [starts[at] ?? 0, ends[at] ?? 0];
    const before = taken;
    taken = Math.max(taken, end);
    if (text === "") return null;
    const width = Math.ceil(widthOf(text));
    const next = starts[at + 1];
    const limit = next === undefined ? room.to : next - APART;
    if (end + APART + width <= limit) {
      taken = end + APART + width;
      return { text, left: end + APART, width, isBelow: false };
    }
    const left = start - APART - width;
    if (left >= before + APART) return { text, left, width, isBelow: false };
    // Beside its own lines only; before them, if possible: what a release causes is after them.
    const [first, last] = [Math.min(...group.places), Math.max(...group.places)];
    const places = [first - APART - width, last + APART];
    const below = places.find((place) => place >= takenBelow && place + width <= room.to);
    if (below === undefined) return null;
    takenBelow = below + width + APART;
    return { text, left: below, width, isBelow: true };
  });
}
