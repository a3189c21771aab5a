import { ArrowDown, ArrowUp, GripVertical } from "lucide";
import { useRef } from "preact/hooks";
import type { Panel } from "../../model/boards.ts";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import css from "./panel.module.css";
import type { ArrangeStep, Arranging } from "./use-arrange.ts";

/** Keys that do the same with Alt, and in a narrow window without. */
const KEYS: Readonly<Record<string, ArrangeStep>> = { ArrowUp: "earlier", ArrowDown: "later" };

interface ArrangeHandleProps {
  panel: Panel;
  title: string;
  arrange: Arranging;
  /** Whether panels are one below the other, so that their columns and sizes are not visible. */
  isStacked: boolean;
}

/**
 * The one handle of a panel: dragged, it moves the panel, as the arrow keys on it do; a click opens a menu with the same for touch and
 * voice. Alt and the arrow keys change the order.
 */
export function ArrangeHandle({ panel, title, arrange, isStacked }: ArrangeHandleProps) {
  const drag = arrange.handle(panel, "move");
  /** Whether the pointer has moved the panel, so that its release is no click. */
  const hasMoved = useRef(false);
  // A panel that moves in the document loses the focus.
  const keepFocus = (): void => {
    const { activeElement } = document;
    requestAnimationFrame(() => {
      if (activeElement instanceof HTMLElement && activeElement.isConnected) activeElement.focus();
    });
  };
  const go = (step: ArrangeStep): void => {
    keepFocus();
    arrange.step(panel, step);
  };
  const item = (label: string, step: ArrangeStep, more: Partial<MenuItem> = {}): MenuItem => ({
    label,
    onSelect: () => go(step),
    ...more,
  });
  return (
    <span
      class={css.grip}
      data-stacked={isStacked}
      onPointerDown={(event) => {
        hasMoved.current = false;
        if (!isStacked && isOnHandle(event)) drag.onPointerDown(event);
      }}
      onPointerMove={(event) => {
        if (drag.onPointerMove(event)) hasMoved.current = true;
      }}
      onPointerUp={drag.onPointerUp}
      onPointerCancel={(event) => {
        // No click follows.
        hasMoved.current = false;
        drag.onPointerCancel(event);
      }}
      onClickCapture={(event) => {
        if (!hasMoved.current) return;
        hasMoved.current = false;
        event.stopPropagation();
      }}
      onKeyDownCapture={(event) => {
        if (!isOnHandle(event)) return;
        const step = event.altKey || isStacked ? KEYS[event.key] : undefined;
        if (step !== undefined) {
          event.preventDefault();
          go(step);
        } else if (!isStacked) {
          drag.onKeyDown(event);
          // The panels are rendered after this event.
          if (event.defaultPrevented) keepFocus();
        }
        // Otherwise the arrow keys open the menu.
        if (event.defaultPrevented) event.stopPropagation();
      }}
    >
      <Menu
        label={`Move ${title}`}
        icon={GripVertical}
        iconOnly
        small
        look="quiet"
        items={[
          item("Move up", "earlier", { icon: ArrowUp, shortcut: "Alt ↑" }),
          item("Move down", "later", { icon: ArrowDown, shortcut: "Alt ↓" }),
          ...(isStacked
            ? []
            : [
                item("Wider", "wider", { startsGroup: true, shortcut: "Shift →" }),
                item("Narrower", "narrower", { shortcut: "Shift ←" }),
                item("Taller", "higher", { shortcut: "Shift ↓" }),
                item("Shorter", "lower", { shortcut: "Shift ↑" }),
              ]),
        ]}
      />
    </span>
  );
}

/** Whether an event is of the handle itself, and not of its open menu. */
function isOnHandle({ target }: Event): boolean {
  return target instanceof Element && target.closest("button") !== null;
}
