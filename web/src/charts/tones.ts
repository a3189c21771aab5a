import css from "./chart.module.css";
import type { Series } from "./chart-data.ts";

/** Returns the class of the colour of a series: that of its level, or of its place among all. */
export function toneClass(level: Series["level"], index: number): string | undefined {
  return css[level === null ? `series${index + 1}` : level];
}
