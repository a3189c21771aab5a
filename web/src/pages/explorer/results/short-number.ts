/** Digits of a number that a row shows; the part before the point is whole. */
const DIGITS = 6;

/** Returns a number as a row shows it: `293.838` for `293.83719275860204`. Whole numbers are exact, as they may be ids. */
export function shortNumber(value: number): string {
  const exact = String(value);
  if (Number.isInteger(value) || !Number.isFinite(value)) return exact;
  const whole = String(Math.trunc(Math.abs(value))).length;
  const short = String(Number(value.toPrecision(Math.max(DIGITS, Math.min(whole, 100)))));
  return short.length < exact.length ? short : exact;
}
