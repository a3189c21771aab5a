import { readByPost } from "./api.ts";
import type { StatsCommand } from "./commands.ts";
import { EXIT } from "./failure.ts";
import { toQueryFilters } from "./filters.ts";
import { type Io, notice, writeLine } from "./io.ts";
import { jsonLine, paint, paintLevel, shown } from "./pretty.ts";
import { record } from "./record.ts";
import { readTable, tableLines } from "./table.ts";
import { formatTime } from "./time.ts";

/** Characters of the longest bar. */
const BAR = 40;

interface Bucket {
  start: string;
  count: number;
  groups: readonly [string, number][];
}

export async function stats(io: Io, command: StatsCommand): Promise<number> {
  const { service, project, filters, from, to, interval, by, table, json } = command;
  const selection = { ...(project === null ? {} : { projectId: project }), ...toQueryFilters(filters, from, to) };
  if (table !== null) return aggregate(io, command, { ...selection, ...table });
  const body = { ...selection, interval, ...(by === null ? {} : { groupBy: by }) };
  const data = record(await readByPost(io, service, "/logger/stats", body, false));
  const buckets = Array.isArray(data?.buckets) ? data.buckets : [];
  for (const line of json ? buckets.map(jsonLine) : chart(buckets.map(bucketOf), command)) await writeLine(io, line);
  if (!json) await writeLine(io, `${data?.total ?? 0} in all, by ${interval}`);
  if (data?.complete !== false) return EXIT.ok;
  notice(
    io,
    "Older entries are not counted, because the scan reached its limit. Narrow the filters or the time range.",
  );
  return EXIT.incomplete;
}

/** Prints a table of aggregations, and what the service notes about it. */
async function aggregate(io: Io, { service, json, colors }: StatsCommand, body: object): Promise<number> {
  const data = record(await readByPost(io, service, "/logger/stats", body, false));
  for (const line of tableLines(readTable(data), json, colors)) await writeLine(io, line);
  for (const note of Array.isArray(data?.notes) ? data.notes : []) notice(io, shown(String(note)));
  return data?.complete === false ? EXIT.incomplete : EXIT.ok;
}

function bucketOf(value: unknown): Bucket {
  const bucket = record(value);
  const groups = Object.entries(record(bucket?.groups) ?? {}).map(([name, count]): [string, number] => [
    name,
    Number(count),
  ]);
  return { start: String(bucket?.start), count: Number(bucket?.count), groups };
}

/** Formats each bucket as a line: its start in local time, its count, a bar and its groups. */
function chart(buckets: readonly Bucket[], { by, interval, colors }: StatsCommand): string[] {
  const most = Math.max(1, ...buckets.map(({ count }) => count));
  const width = String(most).length;
  return buckets.map(({ start, count, groups }) => {
    const bar = "█".repeat(Math.max(1, Math.round((count / most) * BAR)));
    const named = groups.map(([name, part]) => {
      const label = `${shown(name)} ${part}`;
      return by === "level" ? paintLevel(label, name, colors) : label;
    });
    // Buckets of days begin at midnight UTC, so they are shown as UTC dates.
    const time = interval === "1d" ? start.slice(0, 10) : formatTime(start).slice(0, 16);
    return [
      paint(time, "2", colors),
      String(count).padStart(width),
      named.length > 0 ? bar.padEnd(BAR) : bar,
      named.join("  "),
    ]
      .join("  ")
      .trimEnd();
  });
}
