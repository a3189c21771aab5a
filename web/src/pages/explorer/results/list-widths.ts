import type { Column } from "../view/columns.ts";

/** Width of the list in pixels below which a row takes two lines. */
const NARROW = 760;
/** Like `NARROW`, if each row names its project. */
const NARROW_MIXED = 900;

/** Whether a list is so narrow that each row takes two lines. */
export function hasTwoLines(width: number, isMixed: boolean): boolean {
  return width < (isMixed ? NARROW_MIXED : NARROW);
}

/** Pixels of the first columns, of a project, between two columns, and that the message and the state of the list need beside each other. */
const TAKEN = { first: 340, project: 124, gap: 12, rest: 480 } as const;

/** Whether chosen columns leave no room for the state of the list in the line of their names. */
export function isCrowded(width: number, isMixed: boolean, columns: readonly Column[]): boolean {
  const chosen = columns.reduce((sum, column) => sum + column.width + TAKEN.gap, 0);
  return columns.length > 0 && width - TAKEN.first - (isMixed ? TAKEN.project : 0) - chosen < TAKEN.rest;
}

/** The widths of the columns for the style sheet. */
export function widths(columns: readonly Column[]): Record<string, string> {
  return columns.length === 0 ? {} : { "--columns": columns.map(({ width }) => `${width}px`).join(" ") };
}

/**
 * Pixels of the list on the page of logs: the window without rail, fields and scroll bar, which have a width for each kind of
 * window. The list is measured before the first frame; a wrong number only renders the rows twice.
 */
export function usualWidth(): number {
  const [, beside] = BESIDE.find(([from]) => innerWidth >= from) ?? [0, 0];
  return innerWidth - beside;
}

/** Pixels beside the list, by the least width of the window. */
const BESIDE: readonly (readonly [from: number, beside: number])[] = [
  [1920, 519],
  [1680, 447],
  [1000, 311],
];
