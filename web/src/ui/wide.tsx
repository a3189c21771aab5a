import type { ComponentChildren } from "preact";
import css from "./wide.module.css";

/** A box that scrolls sideways by itself, by keyboard too, so that a wide table does not widen the page. */
export function Wide({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section class={css.wide} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
