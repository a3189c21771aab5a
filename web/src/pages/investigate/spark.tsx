import tones from "../../charts/tones.module.css";
import css from "./spark.module.css";

/** Class of `charts/tones.module.css`. */
type Tone = keyof typeof tones;

interface SparkProps {
  counts: readonly number[];
  tone: Tone;
  /** Counts that are part of `counts`, drawn over them. */
  part?: { counts: readonly number[]; tone: Tone } | null;
  /** What the drawing shows, for screen readers and as its tooltip. */
  label: string;
}

/** Height in the style sheet, in pixels. */
const HEIGHT = 24;
/** Least height of a bar, in percent: a pixel. */
const LEAST = 100 / HEIGHT;

/** Counts over time as small bars. */
export function Spark({ counts, tone, part = null, label }: SparkProps) {
  const peak = Math.max(1, ...counts);
  return (
    <svg
      class={css.spark}
      viewBox={`0 0 ${counts.length} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path class={tones[tone]} d={bars(counts, peak)} />
      {part === null ? null : <path class={tones[part.tone]} d={bars(part.counts, peak)} />}
    </svg>
  );
}

function bars(counts: readonly number[], peak: number): string {
  return counts
    .map((count, at) => (count === 0 ? "" : `M${at + 0.1} 100v${-Math.max(LEAST, (count / peak) * 100)}h.8V100z`))
    .join("");
}
