import type { ComponentChildren } from "preact";
import css from "./scroll-box.module.css";

interface ScrollBoxProps {
  label: string;
  /** Whether a narrow window shows each row of the table as a block of lines: cells name their column in `data-label`. */
  isStacked?: boolean;
  children: ComponentChildren;
}

/** A box that scrolls horizontally, also by keyboard, so that a wide table does not widen the page. */
export function ScrollBox({ label, isStacked = false, children }: ScrollBoxProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <section class={isStacked ? `${css.wide} ${css.stacked}` : css.wide} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}
