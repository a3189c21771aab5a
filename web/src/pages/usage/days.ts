import { LEVELS, type Level } from "../../model/types.ts";
import type { BarSeries } from "../../ui/bar-series.ts";

/** The counts of a project, as `GET /workspaces/{id}/usage/days` returns them. */
export interface ProjectDays {
  projectId: string;
  name: string;
  entries: number;
  days: { day: string; entries: number; levels: Partial<Record<Level, number>> }[];
  complete: boolean;
}

export interface UsageDays {
  /** All days of the span, in order, `2026-11-01`. */
  days: string[];
  projects: ProjectDays[];
  /** Whether every day of every project is counted. */
  complete: boolean;
}

/** Projects with a colour of their own. The others are one series. */
const OWN_SERIES = 5;

/** Returns the largest projects as series, and the others together. */
export function seriesByProject({ days, projects }: UsageDays): BarSeries[] {
  const sorted = projects.filter(({ entries }) => entries > 0).sort((a, b) => b.entries - a.entries);
  const own = sorted.slice(0, OWN_SERIES).map((project, at) => ({
    name: project.name,
    color: `var(--series-${at + 1})`,
    values: valuesOf(days, [project]),
  }));
  const others = sorted.slice(OWN_SERIES);
  if (others.length === 0) return own;
  return [...own, { name: `${others.length} others`, color: "var(--series-6)", values: valuesOf(days, others) }];
}

export function seriesByLevel({ days, projects }: UsageDays): BarSeries[] {
  const counted = projects.flatMap((project) => project.days);
  // As in the explorer's histogram: the severest ones at the bottom.
  return LEVELS.toReversed().map((level) => {
    const values = sumsOf(
      days,
      counted.map(({ day, levels }) => [day, levels[level] ?? 0]),
    );
    return { name: level, level, color: `var(--fill-${level})`, values };
  });
}

function valuesOf(days: readonly string[], projects: readonly ProjectDays[]): number[] {
  const counted = projects.flatMap((project) => project.days);
  return sumsOf(
    days,
    counted.map(({ day, entries }) => [day, entries]),
  );
}

function sumsOf(days: readonly string[], counts: readonly (readonly [day: string, count: number])[]): number[] {
  const sums = new Map<string, number>();
  for (const [day, count] of counts) sums.set(day, (sums.get(day) ?? 0) + count);
  return days.map((day) => sums.get(day) ?? 0);
}

/** Returns the entries of all projects by day. */
export function totalsOf({ days, projects }: UsageDays): number[] {
  return valuesOf(days, projects);
}

/** Returns the counts as CSV (RFC 4180): a row for each day and project that has entries. */
export function csvOf({ projects }: UsageDays): string {
  const header = ["day", "project_id", "project", "entries", ...LEVELS];
  const rows = projects.flatMap(({ projectId, name, days }) =>
    days.map(({ day, entries, levels }) => [
      day,
      projectId,
      name,
      entries,
      ...LEVELS.map((level) => levels[level] ?? 0),
    ]),
  );
  rows.sort(([a = ""], [b = ""]) => (a < b ? -1 : a > b ? 1 : 0));
  return [header, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}

/** A text that a spreadsheet would run as a formula gets a quote before it. */
function csvCell(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
