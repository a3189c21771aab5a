import type { ComponentChildren } from "preact";
import css from "./badge.module.css";

/** A state as a word. The colour only repeats the word. */
export function Badge({ tone, children }: { tone?: "good" | "warn" | "bad"; children: ComponentChildren }) {
  return <span class={`${css.badge} ${tone === undefined ? "" : css[tone]}`}>{children}</span>;
}
