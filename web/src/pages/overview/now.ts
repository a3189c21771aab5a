/** Minutes over which the rate is measured, without the one in progress. */
export const RATE_MINUTES = 5;
const MINUTE_MS = 60_000;
export const MINUTES = 60;

/** A kind of message that occurs today and did not the day before. */
export interface NewPattern {
  pattern: string;
  count: number;
}

export interface Now {
  /** Entries of each of the last 60 minutes by their timestamp; the last one is in progress. */
  minutes: number[];
  /** Entries a minute, over the last whole minutes. */
  rate: number;
  patterns: { items: NewPattern[]; isExact: boolean };
}

/** The answer of a batch to one query. */
export interface Table {
  ok: boolean;
  columns: { name: string }[];
  rows: unknown[][];
  exact: boolean;
}

/** Reads the answers of both queries. @param now epoch milliseconds */
export function nowOf([counts, patterns]: readonly Table[], now: number): Now {
  const minutes = minutesOf(counts, now);
  const whole = minutes.slice(-1 - RATE_MINUTES, -1);
  return {
    minutes,
    rate: whole.reduce((sum, count) => sum + count, 0) / RATE_MINUTES,
    patterns: { items: patternsOf(patterns), isExact: patterns?.ok === true && patterns.exact },
  };
}

/** Returns a count for each minute up to `now`, 0 where the table has no row. */
export function minutesOf(table: Pick<Table, "columns" | "rows"> | undefined, now: number): number[] {
  const minutes = Array<number>(MINUTES).fill(0);
  const current = Math.floor(now / MINUTE_MS);
  for (const { time, n } of records(table)) {
    const at = MINUTES - 1 - (current - Math.floor(Date.parse(String(time)) / MINUTE_MS));
    if (at >= 0 && at < MINUTES && typeof n === "number") minutes[at] = n;
  }
  return minutes;
}

function patternsOf(table: Table | undefined): NewPattern[] {
  return records(table).flatMap(({ pattern, count }) =>
    typeof pattern === "string" && typeof count === "number" ? [{ pattern, count }] : [],
  );
}

/** Returns the query for the entries of a pattern. */
export function patternQuery(pattern: string): string {
  return `level:>=warn pattern:=${JSON.stringify(pattern)}`;
}

function records(table: Pick<Table, "columns" | "rows"> | undefined): Record<string, unknown>[] {
  if (table?.rows === undefined) return [];
  return table.rows.map((row) => Object.fromEntries(table.columns.map(({ name }, at) => [name, row[at]])));
}
