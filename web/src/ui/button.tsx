import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import css from "./button.module.css";

export type ButtonLook = "primary" | "plain" | "quiet" | "danger";

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "class" | "size"> {
  look?: ButtonLook;
  small?: boolean;
  /** While true it cannot be pressed, and says so to a screen reader. */
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

/** For links that look like a button. */
export function buttonClass(look: ButtonLook, small = false): string {
  return [css.button, css[look], small ? css.small : ""].join(" ");
}
