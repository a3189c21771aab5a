import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { type ButtonLook, buttonClass, iconButtonClass } from "./button.tsx";
import { Icon, type IconShape } from "./icon.tsx";
import { lazyModule, useLazy } from "./use-lazy.ts";

const LIST = lazyModule(() => import("./popup/menu-list.tsx"));

export interface MenuItem {
  /** Distinguishes items with the same label. */
  id?: string;
  label: string;
  icon?: IconShape;
  /** Key that does the same. */
  shortcut?: string;
  onSelect: () => void;
  /** Defined for one of several choices: whether it is the current one. */
  isChecked?: boolean;
  isDanger?: boolean;
  isDisabled?: boolean;
  /** Whether a line separates it from the items above. */
  startsGroup?: boolean;
}

interface MenuProps {
  /** Shown instead of an icon and the text; an icon, too, unless `iconOnly` is false. */
  face?: ComponentChildren;
  tooltipSide?: "bottom" | "right";
  /** Text of the button; its accessible name if it shows an icon alone. */
  label: string;
  icon?: IconShape;
  /** Whether the button shows the icon alone. */
  iconOnly?: boolean;
  items: readonly MenuItem[];
  look?: ButtonLook;
  small?: boolean;
  placement?: "bottom-start" | "bottom-end" | "right-end";
  /** Name of the shortcut that presses the button. */
  shortcut?: string;
}

/** A button that opens a list of actions. */
export function Menu({ label, icon, face, iconOnly = face !== undefined, items, ...rest }: MenuProps) {
  const { look = "plain", small = false, placement = "bottom-start", tooltipSide, shortcut } = rest;
  const [isOpen, setOpen] = useState(false);
  const list = useLazy(LIST, isOpen, () => setOpen(false));
  const id = useId();
  return (
    <>
      <button
        type="button"
        id={id}
        class={iconOnly ? iconButtonClass(look, small) : buttonClass(look, small)}
        aria-label={iconOnly ? label : undefined}
        data-tooltip={iconOnly && !isOpen ? label : undefined}
        data-tooltip-side={tooltipSide}
        data-shortcut={shortcut}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onPointerEnter={LIST.preload}
        onFocus={LIST.preload}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
          event.preventDefault();
          event.stopPropagation();
          setOpen(true);
        }}
      >
        {face ?? (icon === undefined ? null : <Icon shape={icon} />)}
        {iconOnly || face !== undefined ? null : label}
      </button>
      {list === null ? null : (
        <list.MenuList
          triggerId={id}
          items={items}
          placement={placement}
          onChoose={({ onSelect }) => {
            setOpen(false);
            // After the menu has given the focus back to its button, because the action may move the focus.
            requestAnimationFrame(() => requestAnimationFrame(onSelect));
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </>
  );
}
