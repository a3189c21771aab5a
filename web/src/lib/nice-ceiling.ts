/** Tops of an axis, times a power of ten. */
const TOPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8] as const;

/** Rounds up to a number of few digits, for the top of an axis. */
export function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return (TOPS.find((top) => value <= top * power) ?? 10) * power;
}

/** Tops whose half is whole, too, times a power of ten. */
const EVEN_TOPS = [2, 4, 6, 8, 10, 12, 16] as const;

/** Rounds up to a whole number of few digits whose half is whole, for an axis of counts: half an entry does not exist. */
export function evenCeiling(value: number): number {
  const small = EVEN_TOPS.find((top) => value <= top);
  if (small !== undefined || !(value > 0)) return small ?? 2;
  const power = 10 ** Math.floor(Math.log10(value));
  // Above 16, only the half of 25 is not whole.
  return (TOPS.find((top) => value <= top * power && Number.isInteger((top * power) / 2)) ?? 10) * power;
}
