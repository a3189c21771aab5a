const SCALE = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 3 });

/** A number beside the scale of a drawing: 1.25K. Half of a rounded peak has three digits. */
export function scaleMark(value: number): string {
  return SCALE.format(value);
}
