import { LEVELS } from "../../../src/logs/entry.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import { patternOf } from "../../../src/logs/search/pattern.ts";
import type { TestRow } from "../query/store.ts";

/** A field of a request, and the paths in `data` that it stands for, the preferred one first. */
export interface TestField {
  text: string;
  paths: readonly (readonly string[])[];
}

export interface TestAggregation {
  fn: string;
  field?: TestField;
}

export type TestKey = TestField | { bin: string; ms: number };

/** What one entry has at a field: its values, and all of it as one. */
interface Found {
  values: unknown[];
  whole: unknown;
}

const NOTHING: Found = { values: [], whole: undefined };

/** The table that the documentation promises, in the plainest words: no states, no bytes, no bounds. */
export function tableRows(
  rows: readonly TestRow[],
  keys: readonly TestKey[],
  aggregations: readonly TestAggregation[],
) {
  const groups = new Map<string, { keys: unknown[]; rows: TestRow[] }>();
  for (const row of rows) {
    for (const values of combinations(keys.map((key) => keyValues(row, key)))) {
      const name = JSON.stringify(values);
      const group = groups.get(name) ?? { keys: values, rows: [] };
      groups.set(name, group);
      group.rows.push(row);
    }
  }
  if (keys.length === 0 && groups.size === 0) groups.set("", { keys: [], rows: [] });
  return [...groups.values()]
    .sort((a, b) => {
      for (const [at, key] of keys.entries()) {
        const difference = compareKeys(key, a.keys[at], b.keys[at]);
        if (difference !== 0) return difference;
      }
      return 0;
    })
    .map((group) => [...group.keys, ...aggregations.map((wanted) => aggregate(group.rows, wanted))]);
}

function severityOf(level: unknown): number {
  const levels: readonly unknown[] = LEVELS;
  return levels.indexOf(level);
}

function compareKeys(key: TestKey, a: unknown, b: unknown): number {
  if (!("bin" in key) && key.text === "level") return severityOf(a) - severityOf(b);
  return compareValues(a, b);
}

export function compareValues(a: unknown, b: unknown): number {
  const types = ["boolean", "number", "string", "nested", "null"];
  const rank = (value: unknown) =>
    types.indexOf(value === null ? "null" : typeof value === "object" ? "nested" : typeof value);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "number" && typeof b === "number") return a - b;
  const bytes = (value: unknown) =>
    Buffer.from(typeof value === "string" ? JSON.stringify(value).slice(0, -1) : JSON.stringify(value));
  return Buffer.compare(bytes(a), bytes(b));
}

function keyValues(row: TestRow, key: TestKey): unknown[] {
  if ("bin" in key) return [new Date(Math.floor(row.entry.timestamp / key.ms) * key.ms).toISOString()];
  const { values } = valuesOf(row, key);
  if (values.length === 0) return [null];
  return [...new Map(values.map((value) => [JSON.stringify(value), plain(value)])).values()];
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

function combinations(lists: readonly unknown[][]): unknown[][] {
  return lists.reduce<unknown[][]>(
    (all, list) => all.flatMap((before) => list.map((value) => [...before, value])),
    [[]],
  );
}

function valuesOf({ entry, seq, projectId, commit }: TestRow, { text, paths }: TestField): Found {
  const own: Record<string, unknown> = {
    level: entry.level,
    category: entry.category,
    type: entry.type,
    message: entry.message,
    pattern: patternOf(entry.message),
    session: entry.session,
    trace: entry.traceId,
    span: entry.spanId,
    seq,
    time: new Date(entry.timestamp).toISOString(),
    received: new Date(1_800_000_000_000 + commit).toISOString(),
    project: projectId,
    id: logId(projectId, seq),
  };
  if (paths.length === 0) return own[text] === undefined ? NOTHING : { values: [own[text]], whole: own[text] };
  // The line is JSON: what an entry has is what JSON keeps of it.
  const data: unknown = entry.data === undefined ? undefined : plain(entry.data);
  if ((text === "service" || text === "host") && entry[text] !== undefined) {
    return { values: [entry[text]], whole: entry[text] };
  }
  const found = paths.map((path) => at(data, path, false));
  const best =
    found.find((each) => each.some(({ isObject }) => !isObject)) ?? found.find((each) => each.length > 0) ?? [];
  const [only = "", ...more] = paths.find((path) => path.length === 1) ?? [];
  const member = more.length === 0 && (only === "service" || only === "host") ? entry[only] : undefined;
  // The own member counts in place of a member of `data` that is missing or an object.
  if (member !== undefined && best.every(({ isObject }) => isObject)) return { values: [member], whole: member };
  const hasOthers = best.some(({ isObject }) => !isObject);
  const kept = best.filter(({ isObject }) => !hasOthers || !isObject);
  return { values: kept.flatMap(({ values }) => values), whole: kept[0]?.whole };
}

interface FoundAt extends Found {
  /** Whether it is an object that is no item of an array. */
  isObject: boolean;
}

/** @param isItem whether the value is an item of an array */
function at(value: unknown, path: readonly string[], isItem: boolean): FoundAt[] {
  const [name, ...rest] = path;
  if (Array.isArray(value)) {
    if (isItem) return name === undefined ? [{ values: [value], whole: value, isObject: false }] : [];
    if (name === undefined) return [{ values: value, whole: value, isObject: false }];
    return value.flatMap((item, index) => [
      ...(name === String(index) ? at(item, rest, false) : []),
      ...at(item, path, true),
    ]);
  }
  if (name === undefined) {
    if (value === undefined) return [];
    const isNested = typeof value === "object" && value !== null;
    return [{ values: [value], whole: value, isObject: isNested && !isItem }];
  }
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return [];
  return at(Reflect.get(value, name), rest, false);
}

function aggregate(rows: readonly TestRow[], { fn, field }: TestAggregation): unknown {
  if (field === undefined) return rows.length;
  const found = rows.map((row) => ({ row, ...valuesOf(row, field) }));
  const values = found.flatMap((each) => each.values);
  const isLevel = field.text === "level";
  const isTime = field.text === "time" || field.text === "received";
  const numbers = values
    .map((value) => (isLevel ? severityOf(value) : isTime ? Date.parse(String(value)) : value))
    .filter((value) => typeof value === "number")
    .sort((a, b) => a - b);
  const shown = (value: number | undefined) => {
    if (value === undefined) return null;
    return isLevel ? LEVELS[value] : isTime ? new Date(value).toISOString() : value + 0;
  };
  const inTime = found
    .filter(({ whole }) => whole !== undefined)
    .sort(
      ({ row: a }, { row: b }) =>
        a.entry.timestamp - b.entry.timestamp || a.seq - b.seq || (a.projectId < b.projectId ? -1 : 1),
    );
  switch (fn) {
    case "count":
      return inTime.length;
    case "count_distinct":
      return new Set(values.filter((value) => value !== null).map((value) => JSON.stringify(value))).size;
    case "sum":
      return numbers.length === 0 ? null : exactSum(numbers);
    case "avg": {
      if (numbers.length === 0) return null;
      const sum = exactSum(numbers);
      return sum === null ? exactAverage(numbers) : sum / numbers.length + 0;
    }
    case "min":
      return shown(numbers[0]);
    case "max":
      return shown(numbers.at(-1));
    case "first":
      return inTime[0]?.whole ?? null;
    case "last":
      return inTime.at(-1)?.whole ?? null;
    case "values":
      return [
        ...new Map(values.filter((value) => value !== null).map((value) => [JSON.stringify(value), value])).values(),
      ]
        .sort(compareValues)
        .slice(0, 100);
    default: {
      const permille = { p50: 500, p75: 750, p90: 900, p95: 950, p99: 990, p999: 999 }[fn] ?? 0;
      return shown(numbers[Math.ceil((numbers.length * permille) / 1000) - 1]);
    }
  }
}

/** A double in units of the smallest one. */
function units(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, Math.abs(value));
  const bits = view.getBigUint64(0);
  const exponent = bits >> 52n;
  const mantissa = bits & 0xfffffffffffffn;
  const size = exponent === 0n ? mantissa : (mantissa | (1n << 52n)) << (exponent - 1n);
  return value < 0 ? -size : size;
}

const FIVES = 5n ** 1074n;

/** Correctly rounded, as `Number` reads decimals; null beyond the largest double. */
export function exactSum(values: readonly number[]): number | null {
  const sum = Number(`${values.reduce((all, value) => all + units(value), 0n) * FIVES}e-1074`);
  return Number.isFinite(sum) ? sum + 0 : null;
}

function exactAverage(values: readonly number[]): number {
  const sum = values.reduce((all, value) => all + units(value), 0n);
  return Number(`${((sum * FIVES) << 64n) / BigInt(values.length) / (1n << 64n)}e-1074`);
}
