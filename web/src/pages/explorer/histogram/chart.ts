import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Selection } from "../../../charts/selection.ts";
import { axisTime } from "../../../lib/axis-time.ts";
import { niceCeiling } from "../../../lib/bar-heights.ts";
import { zone } from "../../../lib/zone.ts";
import type { Level } from "../../../model/types.ts";
import { colours } from "../../../ui/colours.ts";
import { short } from "../view/format.ts";
import { type Bar, type Edges, highest, PLOT } from "./bars.ts";
import { ABOVE, AXIS, layersOf } from "./layers.ts";

export interface ChartOptions {
  host: HTMLElement;
  bars: readonly Bar[];
  /** Times at the left and the right end, epoch milliseconds. */
  edges: Edges;
  /** Most severe first: those levels are drawn at the bottom, where bars are easiest to compare. */
  levels: readonly Level[];
  width: number;
  height: number;
  /** The bar below the pointer, all bars of a brush that has begun, or `null`. */
  onHover: (bars: Selection | null) => void;
  /** First and last bar of the brushed range. */
  onBrush: (first: number, last: number) => void;
}

/** Least pixels of pointer movement that count as a brush instead of a click. */
const BRUSH_MIN = 4;

export interface DrawnChart {
  /** Updates the counts of the same bars and levels without interrupting a brush. */
  update: (bars: readonly Bar[]) => void;
  destroy: () => void;
}

/** Draws stacked bars. */
export function drawChart({ host, bars, edges, levels, width, height, onHover, onBrush }: ChartOptions): DrawnChart {
  const colour = colours(host);
  const first = bars[0];
  if (first === undefined) return { update: () => undefined, destroy: () => undefined };
  const bounds: [number, number] = [edges.from, edges.to];
  // The library measures only bars that begin within the bounds, and the first one may begin before them.
  let top = niceCeiling(highest(bars));
  const data = (bars: readonly Bar[]): uPlot.AlignedData => [
    bars.map(({ start }) => start),
    // Highest first, so that lower layers are drawn over them.
    ...layersOf(bars, levels, top / Math.max(1, height - ABOVE - AXIS)).reverse(),
  ];
  /** Returns the bar that contains a position, not the one with the nearest start. */
  const at = (self: uPlot, left: number): number => {
    const index = Math.floor((self.posToVal(left, "x") - first.start) / (first.end - first.start));
    return Math.min(bars.length - 1, Math.max(0, index));
  };
  const axis = {
    stroke: colour("--faint"),
    font: '11px "Inter Variable", system-ui, sans-serif',
    ticks: { show: false },
  };
  const grid = { stroke: colour("--line-soft"), width: 1 };
  const barPaths = uPlot.paths.bars?.({
    size: [1, Number.POSITIVE_INFINITY, 1],
    align: 1,
    gap: bars.length > 150 ? 0 : 1,
  });
  const chart = new uPlot(
    {
      ms: 1,
      tzDate: (ms) => uPlot.tzDate(new Date(ms), zone.peek()),
      width,
      height,
      padding: [ABOVE, PLOT.right, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: BRUSH_MIN },
      },
      scales: { x: { time: true, range: () => bounds }, y: { range: () => [0, top] } },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: AXIS,
          space: 70,
          values: (_, splits) => splits.map((at) => axisTime(at, (splits[1] ?? at) - (splits[0] ?? at))),
        },
        {
          ...axis,
          grid,
          size: PLOT.left,
          // Also the end of the scale, in a low chart as well.
          splits: () => (top % 2 === 0 ? [0, top / 2, top] : [0, top]),
          values: (_, splits) => splits.map((count) => short(count)),
        },
      ],
      series: [
        {},
        ...[...levels].reverse().map((level) => ({
          fill: colour(`--fill-${level}`),
          width: 0,
          points: { show: false },
          ...(barPaths ? { paths: barPaths } : {}),
        })),
      ],
      hooks: {
        setCursor: [
          (self) => {
            const { left = -1 } = self.cursor;
            const { left: from, width } = self.select;
            if (width >= BRUSH_MIN) onHover({ anchor: at(self, from), at: at(self, from + width - 1) });
            else onHover(left < 0 ? null : { anchor: at(self, left), at: at(self, left) });
          },
        ],
        setSelect: [
          (self) => {
            const { left, width } = self.select;
            if (width < BRUSH_MIN) return;
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            onBrush(at(self, left), at(self, left + width - 1));
          },
        ],
      },
    },
    data(bars),
    host,
  );
  return {
    update: (bars) => {
      top = niceCeiling(highest(bars));
      chart.setData(data(bars));
    },
    destroy: () => chart.destroy(),
  };
}
