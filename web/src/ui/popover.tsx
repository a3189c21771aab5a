import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { type ButtonLook, buttonClass, iconButtonClass } from "./button.tsx";
import { Icon, type IconShape } from "./icon.tsx";
import css from "./popover.module.css";
import { lazyModule, useLazy } from "./use-lazy.ts";

const BOX = lazyModule(() => import("./popup/popover-box.tsx"));

interface PopoverProps {
  /** Text of the button, and the accessible name of the box. */
  label: string;
  icon?: IconShape;
  iconOnly?: boolean;
  look?: ButtonLook;
  small?: boolean;
  /** Class of the button in place of its look. */
  class?: string | undefined;
  placement?: "bottom-start" | "bottom-end";
  /** Shown after the text, less prominent. */
  hint?: string;
  /** Accessible name, if it says more than the text. */
  name?: string;
  /** Name of the explorer's shortcut that focuses the button. */
  shortcut?: string;
  /** The content. `close` closes the box and returns the focus. */
  children: (close: () => void) => ComponentChildren;
}

/** A button that opens a box of controls, beside which the page stays usable. */
export function Popover({
  label,
  icon,
  iconOnly = false,
  placement = "bottom-start",
  class: className,
  children,
  ...rest
}: PopoverProps) {
  const { look = "plain", small = false, name = label, hint, shortcut } = rest;
  const [isOpen, setOpen] = useState(false);
  const box = useLazy(BOX, isOpen, () => setOpen(false));
  const id = useId();
  const close = (): void => {
    setOpen(false);
    document.getElementById(id)?.focus({ preventScroll: true });
  };
  return (
    <>
      <button
        type="button"
        id={id}
        class={className ?? (iconOnly ? iconButtonClass(look, small) : buttonClass(look, small))}
        aria-label={iconOnly || name !== label ? name : undefined}
        data-shortcut={shortcut}
        data-tooltip={iconOnly && !isOpen ? label : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={BOX.preload}
        onFocus={BOX.preload}
        onClick={() => setOpen(!isOpen)}
      >
        {icon === undefined ? null : <Icon shape={icon} />}
        {iconOnly ? null : label}
        {hint === undefined ? null : (
          <>
            {" "}
            <span class={css.hint}>{hint}</span>
          </>
        )}
      </button>
      {box === null ? null : (
        <box.PopoverBox triggerId={id} label={name} placement={placement} onClose={() => setOpen(false)}>
          {children(close)}
        </box.PopoverBox>
      )}
    </>
  );
}
