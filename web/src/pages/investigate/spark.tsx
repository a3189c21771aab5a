import css from "./spark.module.css";
import tones from "./tones.module.css";

interface SparkProps {
  counts: readonly number[];
  /** Class of `tones.module.css`. */
  tone: keyof typeof tones;
  /** What the drawing shows, for screen readers. */
  label: string;
}

/** Counts over time as small bars. */
export function Spark({ counts, tone, label }: SparkProps) {
  const peak = Math.max(1, ...counts);
  return (
    <svg
      class={`${css.spark} ${tones[tone]}`}
      viewBox={`0 0 ${counts.length} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <path
        d={counts
          .map((count, at) => (count === 0 ? "" : `M${at + 0.1} 100v${-Math.max(6, (count / peak) * 100)}h.8V100z`))
          .join("")}
      />
    </svg>
  );
}
