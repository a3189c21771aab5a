const PERCENT = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });
/** The least share that has a number of its own. */
const LEAST = 0.001;

/** Formats a share from 0 to 1. */
export function percent(share: number): string {
  if (share > 0 && share < LEAST) return `<${PERCENT.format(LEAST)}`;
  return PERCENT.format(share);
}
