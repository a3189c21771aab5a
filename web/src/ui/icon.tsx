import type { IconNode } from "lucide";
import { h } from "preact";
import css from "./icon.module.css";

/** A drawing of Lucide: `import { Search } from "lucide"`. Only imported drawings are in the build. */
export type IconShape = IconNode;

/** An icon in the colour of the text beside it. It is decoration: the control around it has a name. */
export function Icon({ shape, size = 16 }: { shape: IconShape; size?: number }) {
  return (
    <svg
      class={css.icon}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="1.75"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {shape.map(([tag, attributes], at) => h(tag, { key: at, ...attributes }))}
    </svg>
  );
}
