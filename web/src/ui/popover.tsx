import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { type ButtonLook, buttonClass, iconButtonClass } from "./button.tsx";
import { Icon, type IconShape } from "./icon.tsx";
import { lazyModule, useLazy } from "./use-lazy.ts";

const BOX = lazyModule(() => import("./popup/popover-box.tsx"));

interface PopoverProps {
  /** Text of the button, and the accessible name of the box. */
  label: string;
  icon?: IconShape;
  iconOnly?: boolean;
  look?: ButtonLook;
  small?: boolean;
  placement?: "bottom-start" | "bottom-end";
  /** The content. `close` closes the box and returns the focus. */
  children: (close: () => void) => ComponentChildren;
}

/** A button that opens a box of controls, beside which the page stays usable. */
export function Popover({
  label,
  icon,
  iconOnly = false,
  placement = "bottom-start",
  children,
  ...rest
}: PopoverProps) {
  const { look = "plain", small = false } = rest;
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
        class={iconOnly ? iconButtonClass(look, small) : buttonClass(look, small)}
        aria-label={iconOnly ? label : undefined}
        data-tooltip={iconOnly && !isOpen ? label : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerEnter={BOX.preload}
        onFocus={BOX.preload}
        onClick={() => setOpen(!isOpen)}
      >
        {icon === undefined ? null : <Icon shape={icon} />}
        {iconOnly ? null : label}
      </button>
      {box === null ? null : (
        <box.PopoverBox triggerId={id} label={label} placement={placement} onClose={() => setOpen(false)}>
          {children(close)}
        </box.PopoverBox>
      )}
    </>
  );
}
