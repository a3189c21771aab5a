const PERCENT = new Intl.NumberFormat(undefined, { style: "percent", maximumSignificantDigits: 2 });

/** Formats a share from 0 to 1. */
export function percent(share: number): string {
  return PERCENT.format(share);
}
