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
  /** At which end a short line leads from it to the line of its release, because it is below the signs; `null` beside its sign. */
  leader: "start" | "end" | null;
  /** Whether it is over something drawn that its background would hide. */
  isOver: boolean;
}

/** Where labels have room. */
interface LabelRoom {
  from: number;
  to: number;
  /** Whether the background of a label would hide nothing of what is drawn there. */
  isFree: (start: number, end: number, isBelow: boolean) => boolean;
}

/** Pixels from the middle of a sign to its end: of one release, and of several, with their number. */
const HALF = { one: 8, several: 10 } as const;
/** Pixels between a sign or a line and a label, and between two labels, at least. */
const APART = 4;
/** Pixels from the middle of a line to a label that is next to it: half of the line. */
const HALF_LINE = 1;
/** Pixels by which a label with a leader is longer, as in the style sheet. */
const LEADER = 12;

/**
 * Returns a label for each group: after its sign and its lines, or before them; where signs leave no room for it, below them, over the
 * lines of other releases and next to that of its own, to which a leader goes. `null` without text, or without room there, too.
 * @param labelOf text, and place of the line of the release that it names; `null` for a group without a label
 * @param widthOf pixels of a text
 */
export function labelsBeside(
  groups: readonly ReleaseGroup[],
  labelOf: (group: ReleaseGroup) => { text: string; line: number } | null,
  widthOf: (text: string) => number,
  { from, to, isFree }: LabelRoom,
): (MarkLabel | null)[] {
  const halves = groups.map(({ places }) => (places.length > 1 ? HALF.several : HALF.one));
  const starts = groups.map(({ place, places }, at) => Math.min(place - (halves[at] ?? 0), ...places));
  const ends = groups.map(({ place, places }, at) => Math.max(place + (halves[at] ?? 0), ...places));
  let taken = from;
  let takenBelow = from;
  return groups.map((group, at) => {
    const label = labelOf(group);
    const [start, end] = [starts[at] ?? 0, ends[at] ?? 0];
    const before = taken;
    taken = Math.max(taken, end);
    if (label === null) return null;
    const { text, line } = label;
    const width = Math.ceil(widthOf(text));
    const widthBelow = width + LEADER;
    const next = starts[at + 1];
    const limit = next === undefined ? to : next - APART;
    const beside = [
      ...(end + APART + width <= limit ? [end + APART] : []),
      ...(start - APART - width >= before + APART ? [start - APART - width] : []),
    ].map((left) => ({ text, left, width, leader: null, isOver: false }));
    // Without a gap, in which the line of another release would be; before the line, if possible: what a release causes is after it.
    const below = [
      { leader: "end" as const, left: line - HALF_LINE - widthBelow },
      { leader: "start" as const, left: line + HALF_LINE },
    ]
      .filter(({ left }) => left >= takenBelow && left + widthBelow <= to)
      .map((each) => ({ ...each, text, width: widthBelow, isOver: false }));
    const free = [...beside, ...below].find((each) => isFree(each.left, each.left + each.width, each.leader !== null));
    const [first] = beside;
    const chosen = free ?? (first === undefined ? null : { ...first, isOver: true });
    if (chosen?.leader != null) takenBelow = chosen.left + widthBelow + APART;
    else if (chosen !== null) taken = Math.max(taken, chosen.left + width);
    return chosen;
  });
}
