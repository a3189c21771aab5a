import { number } from "../explorer/view/format.ts";
import css from "./alert-list.module.css";

const HEIGHT = 20;

/** Values of the last 24 hours as a small drawing. */
export function Sparkline({ values }: { values: readonly number[] | undefined }) {
  if (values === undefined) return <span class={css.spark} />;
  const peak = values.reduce((most, value) => Math.max(most, value), 0);
  const path = values
    .map((value, at) => {
      const height = peak === 0 ? 0 : (Math.max(0, value) / peak) * HEIGHT;
      return height === 0 ? "" : `M${at + 0.1} ${HEIGHT}v${-Math.max(1, height)}h0.8v${Math.max(1, height)}z`;
    })
    .join("");
  return (
    <svg
      class={css.spark}
      viewBox={`0 0 ${values.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`Last 24 hours, at most ${number(peak)} in half an hour`}
    >
      <path d={path} />
    </svg>
  );
}
