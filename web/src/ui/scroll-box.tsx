import type { ComponentChildren } from "preact";
import css from "./scroll-box.module.css";

/** A box that scrolls horizontally, also by keyboard, so that a wide table does not widen the page. */
export function ScrollBox({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <section class={css.wide} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
