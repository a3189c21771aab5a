import { ArrowDown, ArrowUp, Move } from "lucide";
import type { Panel } from "../../model/boards.ts";
import { Menu, type MenuItem } from "../../ui/menu.tsx";
import type { ArrangeStep, Arranging } from "./use-arrange.ts";

/** Keys that do the same with Alt. */
const KEYS: Readonly<Record<string, ArrangeStep>> = { ArrowUp: "earlier", ArrowDown: "later" };

interface ArrangeMenuProps {
  panel: Panel;
  title: string;
  arrange: Arranging;
  /** Whether panels are one below the other, so that their size is not visible. */
  isStacked: boolean;
}

/** Arranges a panel by a menu, and with Alt and the arrow keys on its button: for narrow windows, touch and voice. */
export function ArrangeMenu({ panel, title, arrange, isStacked }: ArrangeMenuProps) {
  const go = (step: ArrangeStep): void => {
    const focused = document.activeElement;
    arrange.step(panel, step);
    // A panel that moves in the document loses the focus.
    requestAnimationFrame(() => {
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus();
    });
  };
  const item = (label: string, step: ArrangeStep, more: Partial<MenuItem> = {}): MenuItem => ({
    label,
    onSelect: () => go(step),
    ...more,
  });
  return (
    <span
      onKeyDownCapture={(event) => {
        const step = event.altKey ? KEYS[event.key] : undefined;
        if (step === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        go(step);
      }}
    >
      <Menu
        label={`Arrange ${title}`}
        icon={Move}
        iconOnly
        small
        look="quiet"
        placement="bottom-end"
        items={[
          item("Move up", "earlier", { icon: ArrowUp, shortcut: "Alt ↑" }),
          item("Move down", "later", { icon: ArrowDown, shortcut: "Alt ↓" }),
          ...(isStacked
            ? []
            : [
                item("Wider", "wider", { startsGroup: true }),
                item("Narrower", "narrower"),
                item("Taller", "higher"),
                item("Shorter", "lower"),
              ]),
        ]}
      />
    </span>
  );
}
