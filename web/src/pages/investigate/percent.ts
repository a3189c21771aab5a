/** Always with the digit after the point, so that shares in a column line up. */
const PERCENT = new Intl.NumberFormat(undefined, {
  style: "percent",
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});
const NONE = new Intl.NumberFormat(undefined, { style: "percent" }).format(0);
/** The least share that has a number of its own. */
const LEAST = 0.001;

/** Formats a share from 0 to 1. */
export function percent(share: number): string {
  if (share === 0) return NONE;
  if (share > 0 && share < LEAST) return `<${PERCENT.format(LEAST)}`;
  return PERCENT.format(share);
}
