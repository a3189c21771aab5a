/** Tops of an axis, times a power of ten. */
const TOPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8] as const;

/** Rounds up to a number of few digits, for the top of an axis. */
export function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (TOPS.find((top) => value <= top * power) ?? 10) * power;
}
