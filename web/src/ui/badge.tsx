import type { ComponentChildren } from "preact";
import css from "./badge.module.css";

/** A word about the state of a thing. The colour only repeats what the word says. */
export function Badge({ tone, children }: { tone?: "good" | "warn" | "bad"; children: ComponentChildren }) {
  return <span class={`${css.badge} ${tone === undefined ? "" : css[tone]}`}>{children}</span>;
}
