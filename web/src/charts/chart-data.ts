import { LEVELS, type Level } from "../model/types.ts";
import { COLOURS } from "./series-colours.ts";
import { isAdded, isAddedOverTime, nullName, type Shape } from "./table-shape.ts";

/** What is drawn of the table of a query. */

export interface Table {
  columns: { name: string; type: string }[];
  rows: unknown[][];
}

/** One group of entries over time. */
export interface Series {
  name: string;
  /** Its groups, as `groupOf` names them: one, or those of a sum. */
  groups: readonly string[];
  /** Set if the series is that of a level, which has a colour of its own. */
  level: Level | null;
  /** A value for each span; `null` where there is none. */
  values: (number | null)[];
  peak: number;
}

/** Values over spans of time. */
export interface TimeChart {
  kind: "time";
  /** Name of the drawn column. */
  measure: string;
  /** Epoch milliseconds of the first span's start. */
  from: number;
  binMs: number;
  spans: number;
  /** Times at the ends of the range, epoch milliseconds: the first and the last span may begin before and end after them. */
  edges: { from: number; to: number };
  /** The first groups, each with a colour of its own or neutral. */
  series: Series[];
  /** Names of the groups that are not among the series. */
  hidden: string[];
  /** In a stack, takes the place of the neutral series and the hidden groups: their sum. `null` if nothing is hidden or cannot be added. */
  rest: Series | null;
  /** Whether a span without a row means 0, and values of groups can be added. */
  isCount: boolean;
  /** Sums of all groups; `null` if values of different spans cannot be added. */
  totals: number[] | null;
}

/** Values of groups. */
export interface GroupChart {
  kind: "groups";
  measure: string;
  groups: { name: string; level: Level | null; value: number }[];
  /** Names of the groups that have no room. */
  hidden: string[];
}

/** One value: over time the total of all groups, or the last value of one. */
export interface NumberChart {
  measure: string;
  value: number | null;
  /** For a line below the number; empty if the table is not over time. */
  values: (number | null)[];
  /** Which value it is, if the table has several. */
  of: string | null;
}

/** Series that are drawn: those with a colour of their own, and a neutral one. */
const MAX_SERIES = COLOURS + 1;
const MAX_GROUPS = 20;
/** Spans of time beyond which a table is not drawn: its times lie too far apart. */
const MAX_SPANS = 3000;

/** The times that a chart covers, epoch milliseconds; `null`: as far as the table reaches. */
export interface ChartRange {
  from: number | null;
  to: number | null;
}

/**
 * Returns the times that the chart of an answer covers. A search without an end has one: the time of its answer.
 * @param range of the answer, ISO 8601
 */
export function answeredRange(
  { from, to }: { from: string | null; to: string | null },
  answeredAt: number,
): ChartRange {
  const start = from === null ? null : Date.parse(from);
  return { from: start, to: to === null ? (start === null ? null : answeredAt) : Date.parse(to) };
}

/** Values that are drawn. The table has all. */
const MAX_MEASURES = 4;

interface Columns {
  /** -1 if the table is not over time. */
  time: number;
  keys: number[];
}

/** Returns a chart for each column of numbers that is no key; none if there is nothing to draw. */
export function chartsOf(table: Table, shape: Shape, range: ChartRange): (TimeChart | GroupChart)[] {
  const { time, keys, measures } = columnsOf(table, shape);
  return measures.slice(0, MAX_MEASURES).flatMap((measure) => {
    const isOverTime = shape.binMs !== null && time >= 0;
    return (
      (isOverTime ? timeChart(table, { time, keys }, measure, shape, range) : groupsOf(table, keys, measure, shape)) ??
      []
    );
  });
}

function columnsOf({ columns }: Pick<Table, "columns">, shape: Shape): Columns & { measures: number[] } {
  const time = shape.binMs === null ? -1 : columns.findIndex(({ name, type }) => name === "time" && type === "time");
  const measures: number[] = [];
  const keys: number[] = [];
  for (const [at, { name, type }] of columns.entries()) {
    if (at === time) continue;
    if (type === "number" && !shape.keys.includes(name)) measures.push(at);
    else keys.push(at);
  }
  return { time, keys, measures };
}

/** Names the group of a row. A group without a value and one whose value is the same text are two. */
function groupOf(row: readonly unknown[], keys: readonly number[]): string {
  return JSON.stringify(keys.map((each) => row[each]));
}

/** Returns the rows of some groups. */
export function rowsOfGroups(table: Table, shape: Shape, groups: readonly string[]): unknown[][] {
  const { keys } = columnsOf(table, shape);
  const wanted = new Set(groups);
  return table.rows.filter((row) => wanted.has(groupOf(row, keys)));
}

/** Returns the chart of a panel: of its first value, or for lines without groups of all its values. */
export function panelChart(
  charts: readonly (TimeChart | GroupChart)[],
  isLines: boolean,
): TimeChart | GroupChart | null {
  const [first, ...others] = charts;
  if (first?.kind !== "time" || !isLines || others.length === 0) return first ?? null;
  const times = [first, ...others.flatMap((each) => (each.kind === "time" ? [each] : []))];
  if (times.some(({ series }) => series.length !== 1)) return first;
  const series = times.flatMap(({ measure, series }) => series.map((each) => ({ ...each, name: measure })));
  const measure = times.map((each) => each.measure).join(", ");
  return { ...first, measure, series, isCount: false, totals: null };
}

function groupsOf(table: Table, keys: readonly number[], measure: number, shape: Shape): GroupChart | null {
  const groups = table.rows.flatMap((row) => {
    const value = row[measure];
    return typeof value === "number" ? [{ ...named(table, row, keys, shape), value }] : [];
  });
  if (groups.length === 0) return null;
  const hidden = groups.slice(MAX_GROUPS).map(({ name }) => name);
  return { kind: "groups", measure: nameOf(table, measure), groups: groups.slice(0, MAX_GROUPS), hidden };
}

/**
 * Returns the number of a table: of one row or of the first group; over time the total of counts and sums, of other values the last one
 * of the group with the highest.
 */
export function numberOf([chart]: readonly (TimeChart | GroupChart)[]): NumberChart | null {
  if (chart === undefined) return null;
  const { measure } = chart;
  if (chart.kind === "groups") {
    const [first] = chart.groups;
    return { measure, value: first?.value ?? null, values: [], of: first?.name || null };
  }
  if (chart.totals !== null)
    return { measure, value: chart.totals.reduce((sum, each) => sum + each, 0), values: chart.totals, of: "total" };
  const [first] = chart.series;
  const values = first?.values ?? [];
  const value = values.findLast((each) => each !== null) ?? null;
  return { measure, value, values, of: first?.name ? `last bin of ${first.name}` : "last bin" };
}

function timeChart(
  table: Table,
  { time, keys }: Columns,
  measure: number,
  shape: Shape,
  range: ChartRange,
): TimeChart | null {
  const binMs = shape.binMs ?? 1;
  const times = table.rows.map((row) => Date.parse(String(row[time]))).filter((at) => !Number.isNaN(at));
  if (times.length === 0) return null;
  const starts = range.from === null ? [] : [Math.floor(range.from / binMs) * binMs];
  const ends = range.to === null ? [] : [Math.floor((range.to - 1) / binMs) * binMs];
  const from = [...times, ...starts].reduce((a, b) => Math.min(a, b));
  const last = [...times, ...ends].reduce((a, b) => Math.max(a, b));
  const spans = Math.round((last - from) / binMs) + 1;
  if (spans > MAX_SPANS) return null;
  const to = from + spans * binMs;
  const edges = { from: Math.max(from, range.from ?? from), to: Math.min(to, range.to ?? to) };
  const name = nameOf(table, measure);
  const isCount = isAdded(shape, name) && table.rows.every((row) => !isNegative(row[measure]));
  const groups = new Map<string, Group>();
  for (const row of table.rows) {
    const [at, value] = [Date.parse(String(row[time])), row[measure]];
    if (Number.isNaN(at) || typeof value !== "number") continue;
    const key = groupOf(row, keys);
    const group = groups.get(key) ?? { ...named(table, row, keys, shape), key, values: new Map(), peak: 0 };
    group.values.set(Math.round((at - from) / binMs), value);
    group.peak = Math.max(group.peak, value);
    groups.set(key, group);
  }
  const all = [...groups.values()];
  const isLevels = all.every(({ level }) => level !== null);
  const sorted = all.sort((a, b) => (isLevels ? severity(b) - severity(a) : b.peak - a.peak));
  const hidden = sorted.slice(MAX_SERIES).map((each) => each.name);
  return {
    ...{ kind: "time", measure: name, from, binMs, spans, edges, isCount, hidden },
    series: sorted.slice(0, MAX_SERIES).map((group) => seriesOf(group, spans, isCount ? 0 : null)),
    rest: isCount && hidden.length > 0 ? restOf(sorted.slice(COLOURS), spans) : null,
    totals: isCount && isAddedOverTime(shape, name) ? sumsOf(all, spans) : null,
  };
}

/**
 * A group with the values that the table has, by span. A table of thousands of groups over thousands of spans has few of them: each in
 * its place among all spans would be millions.
 */
interface Group extends Pick<Series, "name" | "level" | "peak"> {
  key: string;
  values: Map<number, number>;
}

/** @param missing the value of a span without a row */
function seriesOf({ name, level, peak, key, values }: Group, spans: number, missing: 0 | null): Series {
  const all = Array.from({ length: spans }, (_, at) => values.get(at) ?? missing);
  return { name, level, peak, groups: [key], values: all };
}

function restOf(groups: readonly Group[], spans: number): Series {
  const values = sumsOf(groups, spans);
  const keys = groups.map(({ key }) => key);
  return { name: `${groups.length} more`, groups: keys, level: null, values, peak: Math.max(...values) };
}

function sumsOf(groups: readonly Group[], spans: number): number[] {
  const sums = Array<number>(spans).fill(0);
  for (const { values } of groups) for (const [at, value] of values) sums[at] = (sums[at] ?? 0) + value;
  return sums;
}

function isNegative(value: unknown): boolean {
  return typeof value === "number" && value < 0;
}

function severity({ level }: Pick<Series, "level">): number {
  return level === null ? -1 : LEVELS.indexOf(level);
}

function named(
  table: Table,
  row: readonly unknown[],
  keys: readonly number[],
  shape: Shape,
): { name: string; level: Level | null } {
  const name = keys.map((key) => textOf(row[key], nullName(shape, nameOf(table, key)))).join(" · ");
  const isLevel = keys.length === 1 && nameOf(table, keys[0] ?? -1) === "level";
  return { name, level: isLevel ? (LEVELS.find((level) => level === name) ?? null) : null };
}

function nameOf({ columns }: Table, at: number): string {
  return columns[at]?.name ?? "";
}

function textOf(value: unknown, ofNull: string): string {
  return value === null || value === undefined ? ofNull : typeof value === "string" ? value : JSON.stringify(value);
}
