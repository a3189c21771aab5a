import { request } from "../../../api/request.ts";
import { timeFormat } from "../../../lib/zone.ts";
import { LEVELS, type LogEntry } from "../../../model/types.ts";
import type { BarSeries } from "../../../ui/bar-series.ts";

export interface TableAnswer {
  kind: "table";
  columns: { name: string; type: string }[];
  rows: unknown[][];
  scanned: number;
  tookMs: number;
}

/** What `GET /sandbox/preview` returns: newest entries, levels over time, a table. */
interface PreviewAnswer {
  queries: string[];
  answers: ({ kind: "entries"; logs: LogEntry[] } | TableAnswer)[];
}

export interface Preview {
  /** Newest first. */
  entries: LogEntry[];
  levels: { names: string[]; series: BarSeries[] };
  query: string;
  table: TableAnswer;
}

export async function loadPreview(signal: AbortSignal): Promise<Preview | null> {
  const { data } = await request<PreviewAnswer>("/sandbox/preview", { signal });
  const [entries, levels, table] = data.answers;
  if (entries?.kind !== "entries" || levels?.kind !== "table" || table?.kind !== "table") return null;
  return { entries: entries.logs, levels: levelBars(levels), query: data.queries[2] ?? "", table };
}

const BIN_MS = 600_000;
const CLOCK = timeFormat({ hour: "2-digit", minute: "2-digit" });

/** Turns rows of level, time and count into bars, also for spans without entries. */
export function levelBars({ columns, rows }: TableAnswer): Preview["levels"] {
  const [level, time, count] = ["level", "time", "count()"].map((name) =>
    columns.findIndex((column) => column.name === name),
  );
  const cells = rows.map((row) => ({
    level: String(row[level ?? -1]),
    at: Date.parse(String(row[time ?? -1])),
    count: Number(row[count ?? -1]),
  }));
  const times = cells.map(({ at }) => at).filter((at) => !Number.isNaN(at));
  if (times.length === 0) return { names: [], series: [] };
  const first = Math.min(...times);
  const spans = Math.round((Math.max(...times) - first) / BIN_MS) + 1;
  const names = Array.from({ length: spans }, (_, at) => CLOCK(first + at * BIN_MS));
  // As in the explorer's histogram: the severest ones at the bottom.
  const series = LEVELS.toReversed().map((name) => {
    const values = Array<number>(spans).fill(0);
    for (const cell of cells) if (cell.level === name) values[Math.round((cell.at - first) / BIN_MS)] = cell.count;
    return { name, level: name, color: `var(--fill-${name})`, values };
  });
  return { names, series };
}
