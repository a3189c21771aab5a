/** A part of each bar. */
export interface BarSeries {
  name: string;
  /** A colour of the tokens: `var(--fill-error)`. */
  color: string;
  /** One value for each bar. */
  values: readonly number[];
}
