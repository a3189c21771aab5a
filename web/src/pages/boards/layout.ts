import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import type { Board, Panel } from "../../model/boards.ts";

/** The places of panels on the grid of a board. */

export interface Place {
  id: string;
  /** Column and row of the upper left corner, from 0. */
  x: number;
  y: number;
  /** Columns and rows. */
  w: number;
  h: number;
}

const { columns: COLUMNS, height: MAX_HEIGHT } = BOARD_LIMITS;

/** Smallest panel. */
export const LEAST = { w: 2, h: 3 } as const;

/** Sizes of a new panel. */
const NEW = { w: 6, h: 8 } as const;
/** Spans of time that a panel of this width shows apart. One with more is as wide as the board. */
const NEW_SPANS = 120;

/** Moves a panel to a place. Panels in its way go below it, and all move up as far as they can. */
export function moved<P extends Place>(panels: readonly P[], id: string, x: number, y: number): P[] {
  return placed(panels, id, (panel) => ({ ...panel, x: clamp(x, 0, COLUMNS - panel.w), y: Math.max(0, y) }));
}

/**
 * Moves a panel before the one that is read before it, or after the one that is read after it. The first and the last stay.
 * Where that has no room for their sizes, both panels exchange their places and sizes.
 */
export function movedInOrder<P extends Place>(panels: readonly P[], id: string, to: "earlier" | "later"): P[] {
  const order = inOrder(panels);
  const at = order.findIndex((panel) => panel.id === id);
  const first = order[to === "earlier" ? at - 1 : at];
  const second = order[to === "earlier" ? at : at + 1];
  if (first === undefined || second === undefined) return [...panels];
  const next = moved(panels, second.id, first.x, first.y);
  // What makes room for the panel may come to lie before it.
  const moves = inOrder(next).findIndex((panel) => panel.id === id) - at;
  if (to === "earlier" ? moves < 0 : moves > 0) return next;
  return panels.map((panel) => {
    if (panel.id === first.id) return { ...panel, ...placeOf(second) };
    return panel.id === second.id ? { ...panel, ...placeOf(first) } : panel;
  });
}

function placeOf({ x, y, w, h }: Place): Omit<Place, "id"> {
  return { x, y, w, h };
}

/** Changes the size of a panel. */
export function resized<P extends Place>(panels: readonly P[], id: string, w: number, h: number): P[] {
  return placed(panels, id, (panel) => ({
    ...panel,
    w: Math.min(clamp(w, LEAST.w, COLUMNS), COLUMNS - panel.x),
    h: clamp(h, LEAST.h, MAX_HEIGHT),
  }));
}

/** Returns where a further panel goes: below all others, left. @param spans of time that it draws */
export function freePlace(panels: readonly Place[], spans = 0): Omit<Place, "id"> {
  const y = panels.reduce((end, panel) => Math.max(end, panel.y + panel.h), 0);
  return { x: 0, y, ...NEW, ...(spans > NEW_SPANS ? { w: COLUMNS } : {}) };
}

/** Removes overlaps and empty rows. Panels keep their order: by row, then by column. */
export function settled<P extends Place>(panels: readonly P[]): P[] {
  return settledAfter(panels.map(fitted), null);
}

/** Panels as they are shown: the API also stores ones that overlap, are below empty rows or are too small for their titles. */
export function legible<P extends Place>(panels: readonly P[]): P[] {
  return settled(panels.map((panel) => ({ ...panel, w: Math.max(panel.w, LEAST.w), h: Math.max(panel.h, LEAST.h) })));
}

/** Panels from the top left to the bottom right: as they are read, printed and stacked on a phone. */
export function inOrder<P extends Place>(panels: readonly P[]): P[] {
  return [...panels].sort((a, b) => a.y - b.y || a.x - b.x);
}

/** Whether a draft of a board differs from what is stored: not after a panel was moved away and back. */
export function isChanged(draft: Pick<Board, "name" | "panels">, stored: Pick<Board, "name" | "panels">): boolean {
  const textOf = (board: Pick<Board, "name" | "panels">): string =>
    JSON.stringify([board.name.trim(), ...inOrder(settled(board.panels)).map(valuesOf)]);
  return textOf(draft) !== textOf(stored);
}

function valuesOf({ id, title, query, kind, range, ...place }: Panel): unknown[] {
  // One without a range of its own differs from one with all times.
  return [id, title, query, kind, range === undefined ? [] : [range], placeOf({ id, ...place })];
}

export function overlaps(a: Place, b: Place): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function placed<P extends Place>(panels: readonly P[], id: string, place: (panel: P) => P): P[] {
  return settledAfter(
    panels.map((panel) => (panel.id === id ? place(panel) : panel)),
    id,
  );
}

/** @param first the panel that keeps its place where another one wants it */
function settledAfter<P extends Place>(panels: readonly P[], first: string | null): P[] {
  const done: P[] = [];
  const order = inOrder(panels).sort((a, b) => a.y - b.y || Number(b.id === first) - Number(a.id === first));
  for (const panel of order) {
    // The row below everything is always free.
    let y = done.reduce((end, each) => Math.max(end, each.y + each.h), 0);
    while (y > 0 && !done.some((each) => overlaps(each, { ...panel, y: y - 1 }))) y--;
    done.push({ ...panel, y });
  }
  // In the order of the input, so that elements stay where they are in the document.
  return panels.flatMap(({ id }) => done.find((each) => each.id === id) ?? []);
}

function fitted<P extends Place>(panel: P): P {
  const w = clamp(panel.w, 1, COLUMNS);
  return { ...panel, w, x: clamp(panel.x, 0, COLUMNS - w), y: Math.max(0, panel.y) };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(most, Math.round(value)));
}
