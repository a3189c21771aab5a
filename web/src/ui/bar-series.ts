/** A part of each bar. */
export interface BarSeries {
  name: string;
  /** Set if it is that of a level. */
  level?: string;
  /** A colour of the tokens: `var(--fill-error)`. */
  color: string;
  /** One value for each bar. */
  values: readonly number[];
}
