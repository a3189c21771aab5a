import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import css from "./button.module.css";

export type ButtonLook = "primary" | "plain" | "quiet" | "danger";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "size"> {
  look?: ButtonLook;
  small?: boolean;
  /** Disables the button and announces it as busy. */
  busy?: boolean;
  children: ComponentChildren;
}

export function Button({ look = "plain", small = false, busy = false, children, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} class={buttonClass(look, small)} disabled={busy || rest.disabled} aria-busy={busy}>
      {children}
    </button>
  );
}

/** Class of a link styled as a button. */
export function buttonClass(look: ButtonLook, small = false): string {
  return [css.button, css[look], small ? css.small : ""].join(" ");
}
