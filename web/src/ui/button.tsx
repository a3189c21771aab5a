import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import css from "./button.module.css";
import { Icon, type IconShape } from "./icon.tsx";

export type ButtonLook = "primary" | "plain" | "quiet" | "danger";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "size" | "icon"> {
  look?: ButtonLook;
  small?: boolean;
  /** Disables the button and announces it as busy. */
  busy?: boolean;
  /** Shown before the text. */
  icon?: IconShape;
  children: ComponentChildren;
}

export function Button({ look = "plain", small = false, busy = false, icon, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} class={buttonClass(look, small)} disabled={busy || rest.disabled} aria-busy={busy}>
      {icon === undefined ? null : <Icon shape={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends Omit<ButtonProps, "icon" | "children" | "title"> {
  icon: IconShape;
  /** Accessible name, and the tooltip. */
  label: string;
  /** Key that does the same, shown in the tooltip. */
  shortcut?: string;
  tooltipSide?: "bottom" | "right";
}

/** A square button with an icon, named by its tooltip. */
export function IconButton({ icon, label, shortcut, tooltipSide, busy = false, ...props }: IconButtonProps) {
  const { look = "quiet", small = false, ...rest } = props;
  return (
    <button
      type="button"
      aria-label={label}
      {...rest}
      class={`${buttonClass(look, small)} ${css.icon}`}
      disabled={busy || rest.disabled}
      aria-busy={busy}
      data-tooltip={label}
      data-tooltip-side={tooltipSide}
      data-shortcut-key={shortcut}
    >
      <Icon shape={icon} />
    </button>
  );
}

/** Class of a link styled as a button. */
export function buttonClass(look: ButtonLook, small = false): string {
  return [css.button, css[look], small ? css.small : ""].join(" ");
}

/** Class of a link styled as a square button with an icon. */
export function iconButtonClass(look: ButtonLook, small = false): string {
  return `${buttonClass(look, small)} ${css.icon}`;
}
