import { useRef, useState } from "preact/hooks";
import { BOARD_LIMITS } from "../../../../src/workspace/panels.ts";
import type { Panel } from "../../model/boards.ts";
import { inOrder, moved, movedInOrder, resized } from "./layout.ts";

/** Pixels of a row of the grid, with its gap. The style sheet has the same number. */
export const ROW_PX = 40;

const KEYS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Steps of the menu of a panel: a place in the order of reading, or a column or row of its size. */
export type ArrangeStep = "earlier" | "later" | "wider" | "narrower" | "higher" | "lower";

const SIZES: Readonly<Record<Exclude<ArrangeStep, "earlier" | "later">, readonly [w: number, h: number]>> = {
  wider: [1, 0],
  narrower: [-1, 0],
  higher: [0, 1],
  lower: [0, -1],
};

export interface Arranging {
  /** What changed last, for screen readers. */
  said: string;
  /** The panel that is dragged. */
  dragged: string | null;
  /** Handlers of a panel's handle: `move` drags it, `size` changes its size. */
  handle: (panel: Panel, what: "move" | "size") => Handle;
  /** Moves or resizes a panel without its handles. */
  step: (panel: Panel, step: ArrangeStep) => void;
}

interface Handle {
  onPointerDown: (event: PointerEvent) => void;
  /** Returns whether the pointer has gone far enough to move the panel. */
  onPointerMove: (event: PointerEvent) => boolean;
  onPointerUp: (event: PointerEvent) => void;
  onPointerCancel: (event: PointerEvent) => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/**
 * Arranges panels by dragging and by arrow keys. A drag starts from the places at its beginning, so that panels that made
 * room return when the drag goes on.
 * @param grid returns the element that has all columns
 */
export function useArrange(
  panels: readonly Panel[],
  onChange: (panels: Panel[]) => void,
  grid: () => HTMLElement | null,
): Arranging {
  const [said, setSaid] = useState("");
  const [dragged, setDragged] = useState<string | null>(null);
  const start = useRef<{ panels: readonly Panel[]; panel: Panel; x: number; y: number; column: number } | null>(null);
  const apply = (from: readonly Panel[], panel: Panel, what: "move" | "size", dx: number, dy: number): void => {
    const next =
      what === "move"
        ? moved(from, panel.id, panel.x + dx, panel.y + dy)
        : resized(from, panel.id, panel.w + dx, panel.h + dy);
    onChange(next);
    const now = next.find(({ id }) => id === panel.id);
    if (now) setSaid(`${now.title}: column ${now.x + 1}, row ${now.y + 1}, ${now.w} wide, ${now.h} high`);
  };
  const step = (panel: Panel, to: ArrangeStep): void => {
    if (to === "earlier" || to === "later") {
      const next = movedInOrder(panels, panel.id, to);
      onChange(next);
      const place = inOrder(next).findIndex(({ id }) => id === panel.id) + 1;
      setSaid(`${panel.title}: ${place} of ${next.length}`);
      return;
    }
    apply(panels, panel, "size", ...SIZES[to]);
  };
  const end = (): void => {
    start.current = null;
    setDragged(null);
  };
  const handle = (panel: Panel, what: "move" | "size"): Handle => ({
    onPointerDown: (event) => {
      if (event.button !== 0) return;
      const width = grid()?.getBoundingClientRect().width ?? 0;
      const column = width / BOARD_LIMITS.columns;
      const button = event.target instanceof Element ? event.target.closest("button") : null;
      if (column === 0 || button === null) return;
      button.setPointerCapture(event.pointerId);
      start.current = { panels, panel, x: event.clientX, y: event.clientY, column };
      setDragged(panel.id);
    },
    onPointerMove: (event) => {
      if (start.current === null) return false;
      const { x, y, column } = start.current;
      const dx = Math.round((event.clientX - x) / column);
      const dy = Math.round((event.clientY - y) / ROW_PX);
      apply(start.current.panels, start.current.panel, what, dx, dy);
      return dx !== 0 || dy !== 0;
    },
    onPointerUp: end,
    onPointerCancel: end,
    onKeyDown: (event) => {
      const step = KEYS[event.key];
      if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      const [dx, dy] = step;
      apply(panels, panel, event.shiftKey ? "size" : what, dx, dy);
    },
  });
  return { said, dragged, handle, step };
}
