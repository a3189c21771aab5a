/** The shapes of a chart over time as paths of SVG, a unit wide for each span. */

/** Height of the drawing in its own units. */
export const HEIGHT = 100;

/** Share of a span between two bars. */
const GAP = 0.12;

export function barsOf(low: readonly number[], high: readonly number[], peak: number): string {
  const y = (value: number) => round(HEIGHT - (value / peak) * HEIGHT);
  return high
    .flatMap((top, at) => {
      const bottom = low[at] ?? 0;
      return top > bottom ? [`M${at + GAP / 2} ${y(bottom)}V${y(top)}h${1 - GAP}V${y(bottom)}z`] : [];
    })
    .join("");
}

export function areaOf(low: readonly number[], high: readonly number[], peak: number): string {
  const point = (value: number, at: number) => `${at + 0.5} ${round(HEIGHT - (value / peak) * HEIGHT)}`;
  const upper = high.map(point);
  const lower = low.map(point).reverse();
  return `M${[...upper, ...lower].join("L")}z`;
}

/** A line that is interrupted where values are missing. A value between two gaps is a short dash. */
export function lineOf(values: readonly (number | null)[], peak: number, height: number): string {
  let isOpen = false;
  return values
    .map((value, at) => {
      if (value === null) {
        isOpen = false;
        return "";
      }
      const y = round(height - (Math.max(0, value) / peak) * height);
      const isAlone = !isOpen && (values[at + 1] ?? null) === null;
      const part = isAlone ? `M${at + 0.25} ${y}h0.5` : `${isOpen ? "L" : "M"}${at + 0.5} ${y}`;
      isOpen = !isAlone;
      return part;
    })
    .join("");
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
