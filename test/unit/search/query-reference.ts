import type { Entry } from "../../../src/logs/entry.ts";
import { logId } from "../../../src/logs/entry-view.ts";
import type { EntryPlace } from "../../../src/logs/search/entry-test.ts";
import { patternOf } from "../../../src/logs/search/pattern.ts";
import { printField } from "../../../src/query-language/fields.ts";
import type { Aggregate, Field, Filter, Key, Pipe, Query } from "../../../src/query-language/syntax.ts";
import { compareValues, type TestField, type TestKey, tableRows } from "../aggregate/reference.ts";
import type { TestRow } from "../query/store.ts";
import { holds, passes } from "./reference.ts";

/** Evaluates whole queries as their page describes them, without regard to cost: lists, and nothing else. */

export type PlainAnswer =
  | { kind: "entries"; rows: TestRow[]; matched: number }
  | { kind: "table"; rows: unknown[][]; matched: number };

const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"];
const receivedAt = (row: TestRow) => 1_800_000_000_000 + row.commit;

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

export function placed({ entry, seq, projectId, ...row }: TestRow): [Entry, EntryPlace] {
  const { timestamp } = entry;
  const place = { timestamp, receivedAt: receivedAt({ entry, seq, projectId, ...row }), seq, projectId };
  // SAFETY: JSON keeps the members of an entry.
  const stored = plain({ ...entry, timestamp: new Date(timestamp).toISOString() }) as Entry;
  return [stored, { ...place, id: logId(projectId, seq) }];
}

export function evaluate({ filter, pipes }: Query, all: readonly TestRow[], now: number): PlainAnswer {
  let entries = all
    .filter((row) => passes(filter, ...placed(row), now))
    .sort((a, b) => b.entry.timestamp - a.entry.timestamp || b.seq - a.seq || (a.projectId < b.projectId ? 1 : -1));
  let matched = entries.length;
  let isLimited = false;
  /** Order of time, in which neighbours are. */
  let order: "asc" | "desc" = "desc";
  for (const [at, pipe] of pipes.entries()) {
    switch (pipe.kind) {
      case "where":
        entries = entries.filter((row) => passes(pipe.filter, ...placed(row), now));
        if (!isLimited) matched = entries.length;
        break;
      case "sort":
        entries = sortEntries(entries, pipe.by, pipe.order);
        order = pipe.by.kind === "own" && pipe.by.name === "time" ? pipe.order : "desc";
        break;
      case "limit":
        entries = entries.slice(0, pipe.limit);
        isLimited = true;
        break;
      case "context": {
        const near = (row: TestRow) => (other: TestRow) =>
          other.projectId === row.projectId && Math.abs(other.seq - row.seq) <= pipe.entries;
        const found = entries;
        entries = sortEntries(
          all.filter((row) => found.some(near(row))),
          { kind: "own", name: "time" },
          order,
        );
        isLimited = true;
        break;
      }
      default: {
        const rows = tableOf(pipe, entries);
        return { kind: "table", rows: pipeTable(pipe, rows, pipes.slice(at + 1), now), matched };
      }
    }
  }
  return { kind: "entries", rows: entries, matched };
}

function sortEntries(entries: TestRow[], by: Field, order: "asc" | "desc"): TestRow[] {
  const sign = order === "asc" ? 1 : -1;
  if (by.kind === "own" && by.name === "time") {
    return [...entries].sort(
      (a, b) => sign * (a.entry.timestamp - b.entry.timestamp || a.seq - b.seq || (a.projectId < b.projectId ? -1 : 1)),
    );
  }
  // Entries with equal values: the newest first.
  const keyed = sortEntries(entries, { kind: "own", name: "time" }, "desc").map((row) => {
    // Of an array the value that comes first.
    const values = keysOf(row, by).filter((value) => value !== null);
    return { row, key: values.at(order === "asc" ? 0 : -1) ?? null };
  });
  const isLevel = by.kind === "own" && by.name === "level";
  keyed.sort((a, b) => compareCells(a.key, b.key, sign, isLevel));
  return keyed.map(({ row }) => row);
}

function keysOf(row: TestRow, field: Field): unknown[] {
  return tableRows([row], [testField(field)], []).map(([value]) => value);
}

function compareCells(a: unknown, b: unknown, sign: number, isLevel: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return sign * (isLevel ? LEVELS.indexOf(String(a)) - LEVELS.indexOf(String(b)) : compareValues(a, b));
}

/** Paths of a field as documented: each dot may be a part of a name. */
export function testField(field: Field): TestField {
  if (field.kind === "column") throw new Error("A column");
  if (field.kind === "own" && (field.name === "service" || field.name === "host")) {
    const { name } = field;
    return { text: name, paths: [[name], [name, "name"], [`${name}.name`]] };
  }
  if (field.kind === "own") return { text: field.name, paths: [] };
  const path = field.path.map(String);
  const [first = "", second = ""] = path;
  const joined = path.length === 2 && field.path.every((name) => typeof name === "string");
  return { text: printField(field), paths: joined ? [path, [`${first}.${second}`]] : [path] };
}

function testKey(key: Key): TestKey {
  return key.kind === "bin" ? { bin: `${key.ms}ms`, ms: key.ms } : testField(key.field);
}

function tableOf(pipe: Pipe, entries: TestRow[]): unknown[][] {
  switch (pipe.kind) {
    case "count":
      return tableRows(entries, pipe.by.map(testKey), [{ fn: "count" }]);
    case "top":
    case "rare": {
      const rows = tableRows(entries, pipe.by.map(testKey), [{ fn: "count" }]);
      const sign = pipe.kind === "top" ? -1 : 1;
      const count = (row: unknown[]) => Number(row.at(-1));
      return rows.sort((a, b) => sign * (count(a) - count(b))).slice(0, pipe.limit ?? 10);
    }
    case "stats": {
      const keys = pipe.by.map(testKey);
      const bin = pipe.by.find((key) => key.kind === "bin");
      const wanted = pipe.aggregates.map(({ fn, field }) =>
        field === null ? { fn: "count" } : { fn, field: testField(field) },
      );
      const rows = tableRows(entries, keys, wanted);
      return rows.map((row) =>
        row.map((value, at) =>
          pipe.aggregates[at - keys.length]?.fn === "rate" ? Number(value) / ((bin?.ms ?? 0) / 1000) : value,
        ),
      );
    }
    case "patterns": {
      const counts = new Map<string, number>();
      for (const { entry } of entries) {
        const pattern = patternOf(entry.message);
        counts.set(pattern, (counts.get(pattern) ?? 0) + 1);
      }
      const ordered = [...counts].sort(([a, m], [b, n]) => n - m || compareValues(a, b));
      const shown: unknown[][] = ordered.slice(0, pipe.limit ?? ordered.length);
      const rest = ordered.slice(shown.length).reduce((sum, [, count]) => sum + count, 0);
      return rest > 0 ? [...shown, [null, rest]] : shown;
    }
    case "facets":
      return facets(entries, pipe.limit ?? 10);
    case "fields":
      return entries.map((row) => pipe.fields.map((field) => wholeOf(row, field)));
    default:
      throw new Error(pipe.kind);
  }
}

function wholeOf(row: TestRow, field: Field): unknown {
  return tableRows([row], [], [{ fn: "first", field: testField(field) }])[0]?.[0] ?? null;
}

function facets(entries: readonly TestRow[], limit: number): unknown[][] {
  const fields = new Map<string, { entries: number; types: Set<string>; values: Map<string, number> }>();
  for (const row of entries) {
    const own = new Map<string, unknown[]>();
    const add = (name: string, values: unknown[]) => own.set(name, [...(own.get(name) ?? []), ...values]);
    const [{ level, category, type, session, traceId, spanId, service, host, data }] = placed(row);
    const members = { level, category, type, session, trace: traceId, span: spanId, project: row.projectId };
    const nameOf = (path: string[]) =>
      path.length === 1 && ["service", "host"].includes(path[0] ?? "")
        ? (path[0] ?? "")
        : printField({ kind: "data", path });
    for (const [name, value] of Object.entries(members)) if (value !== undefined) add(name, [value]);
    for (const [name, value] of Object.entries({ service, host })) if (value !== undefined) add(name, [value]);
    const walk = (value: unknown, path: string[]) => {
      if (Array.isArray(value)) {
        if (path.length > 0) add(nameOf(path), []);
        for (const item of value) if (!Array.isArray(item)) walk(item, path);
        if (value.some((item) => Array.isArray(item))) add(nameOf(path), [[]]);
      } else if (value !== null && typeof value === "object") {
        for (const [name, member] of Object.entries(value)) walk(member, [...path, name]);
      } else add(nameOf(path), [value]);
    };
    walk(data ?? {}, []);
    for (const [name, values] of own) {
      const field = fields.get(name) ?? { entries: 0, types: new Set(), values: new Map() };
      fields.set(name, field);
      field.entries++;
      for (const value of values) if (value !== null) field.types.add(Array.isArray(value) ? "json" : typeof value);
      const texts = new Set(
        values.filter((value) => value !== null && !Array.isArray(value)).map((value) => JSON.stringify(value)),
      );
      for (const text of texts) field.values.set(text, (field.values.get(text) ?? 0) + 1);
    }
  }
  return [...fields]
    .sort(([a, { entries: m }], [b, { entries: n }]) => n - m || (a < b ? -1 : 1))
    .flatMap(([name, { entries: count, types, values }]) => {
      const [only = "null"] = types;
      const type = types.size > 1 ? "mixed" : only;
      const ordered = [...values].sort(([a, m], [b, n]) => n - m || compareValues(JSON.parse(a), JSON.parse(b)));
      if (ordered.length === 0) return [[name, type, count, null, null]];
      return ordered.slice(0, limit).map(([value, own]) => [name, type, count, JSON.parse(value), own]);
    });
}

/** A table with its names, which are columns of later pipes. */
interface Plain {
  names: string[];
  /** Columns of levels and of times. */
  levels: Set<string>;
  times: Set<string>;
  rows: unknown[][];
}

function columnsOf(pipe: Pipe): Omit<Plain, "rows"> {
  const keys = "by" in pipe && Array.isArray(pipe.by) ? pipe.by : [];
  const keyNames = keys.map((key: Key) => (key.kind === "bin" ? "time" : nameOf(key.field)));
  const named = ({ fn, field, as }: Aggregate) => as ?? `${fn}(${field === null ? "" : nameOf(field)})`;
  const keeping = (fn: string) => ["min", "max", "first", "last"].includes(fn);
  const [levels, times] = [new Set<string>(), new Set<string>()];
  const note = (name: string, field: Field | null) => {
    if (field?.kind !== "own") return;
    if (field.name === "level") levels.add(name);
    if (field.name === "time" || field.name === "received") times.add(name);
  };
  for (const [at, key] of keys.entries()) {
    if (key.kind === "bin") times.add("time");
    else note(keyNames[at] ?? "", key.field);
  }
  if (pipe.kind === "stats") {
    for (const each of pipe.aggregates) if (keeping(each.fn)) note(named(each), each.field);
    return { names: [...keyNames, ...pipe.aggregates.map(named)], levels, times };
  }
  if (pipe.kind === "patterns") return { names: ["pattern", "count"], levels, times };
  if (pipe.kind === "facets") return { names: ["field", "type", "entries", "value", "count"], levels, times };
  if (pipe.kind !== "fields") return { names: [...keyNames, "count"], levels, times };
  for (const field of pipe.fields) note(nameOf(field), field);
  return { names: pipe.fields.map(nameOf), levels, times };
}

function nameOf(field: Field): string {
  return field.kind === "column" ? field.name : printField(field);
}

function pipeTable(first: Pipe, rows: unknown[][], pipes: readonly Pipe[], now: number): unknown[][] {
  let table: Plain = { ...columnsOf(first), rows };
  for (const pipe of pipes) table = piped(table, pipe, now);
  return table.rows;
}

function piped(table: Plain, pipe: Pipe, now: number): Plain {
  const { rows, names, levels, times } = table;
  const cell = (row: unknown[], field: Field | null) => row[names.indexOf(field === null ? "" : nameOf(field))] ?? null;
  if (pipe.kind === "where") return { ...table, rows: rows.filter((row) => rowPasses(pipe.filter, row, table, now)) };
  if (pipe.kind === "limit") return { ...table, rows: rows.slice(0, pipe.limit) };
  if (pipe.kind === "fields") {
    const wanted = pipe.fields.map(nameOf);
    return { names: wanted, levels, times, rows: rows.map((row) => pipe.fields.map((field) => cell(row, field))) };
  }
  if (pipe.kind === "sort") {
    const sign = pipe.order === "asc" ? 1 : -1;
    const isLevel = levels.has(nameOf(pipe.by));
    const sorted = [...rows].sort((a, b) => compareCells(cell(a, pipe.by), cell(b, pipe.by), sign, isLevel));
    return { ...table, rows: sorted };
  }
  if (pipe.kind !== "count" && pipe.kind !== "stats" && pipe.kind !== "top" && pipe.kind !== "rare") throw new Error();
  const keyed = new Map<string, { keys: unknown[]; rows: unknown[][] }>();
  const lists = (row: unknown[]) =>
    pipe.by.map((key): unknown[] => {
      if (key.kind === "bin") {
        const time = row[names.indexOf("time")];
        if (typeof time !== "string") return [null];
        return [new Date(Math.floor(Date.parse(time) / key.ms) * key.ms).toISOString()];
      }
      const value = cell(row, key.field);
      if (!Array.isArray(value)) return [value];
      const different = [...new Map(value.map((item) => [JSON.stringify(item), item])).values()];
      return different.length === 0 ? [null] : different;
    });
  for (const row of rows) {
    const combined = lists(row).reduce<unknown[][]>(
      (all, list) => all.flatMap((before) => list.map((value) => [...before, value])),
      [[]],
    );
    for (const keys of combined) {
      const name = JSON.stringify(keys);
      const group = keyed.get(name) ?? { keys, rows: [] };
      keyed.set(name, group);
      group.rows.push(row);
    }
  }
  if (pipe.by.length === 0 && keyed.size === 0) keyed.set("", { keys: [], rows: [] });
  const isLevel = pipe.by.map((key) => key.kind === "field" && levels.has(nameOf(key.field)));
  const groups = [...keyed.values()].sort((a, b) => {
    for (const at of pipe.by.keys()) {
      const difference = compareCells(a.keys[at], b.keys[at], 1, isLevel[at] === true);
      if (difference !== 0) return difference;
    }
    return 0;
  });
  const aggregates: readonly Aggregate[] =
    pipe.kind === "stats" ? pipe.aggregates : [{ fn: "count", field: null, as: null }];
  const bin = pipe.by.find((key) => key.kind === "bin");
  const made = groups.map((group) => [
    ...group.keys,
    ...aggregates.map((each) => {
      if (each.fn === "rate") return group.rows.length / ((bin?.ms ?? 0) / 1000);
      if (each.field === null) return group.rows.length;
      const values = group.rows.map((row) => cell(row, each.field));
      return aggregateCells(each, values, levels.has(nameOf(each.field)), times.has(nameOf(each.field)));
    }),
  ]);
  const columns = columnsOfTable(pipe, table);
  if (pipe.kind === "top" || pipe.kind === "rare") {
    const sign = pipe.kind === "top" ? -1 : 1;
    made.sort((a, b) => sign * (Number(a.at(-1)) - Number(b.at(-1))));
    return { ...columns, rows: made.slice(0, pipe.limit ?? 10) };
  }
  return { ...columns, rows: made };
}

function columnsOfTable(pipe: Pipe, before: Plain): Omit<Plain, "rows"> {
  const { names } = columnsOf(pipe);
  const [levels, times] = [new Set<string>(), new Set<string>()];
  const keep = (name: string, from: string) => {
    if (before.levels.has(from)) levels.add(name);
    if (before.times.has(from)) times.add(name);
  };
  if ("by" in pipe && Array.isArray(pipe.by)) {
    for (const key of pipe.by) {
      const name = key.kind === "bin" ? "time" : nameOf(key.field);
      keep(name, name);
    }
  }
  if (pipe.kind === "stats") {
    const offset = names.length - pipe.aggregates.length;
    for (const [at, { fn, field }] of pipe.aggregates.entries()) {
      if (field !== null && ["min", "max", "first", "last"].includes(fn)) keep(names[offset + at] ?? "", nameOf(field));
    }
  }
  return { names, levels, times };
}

function aggregateCells({ fn }: Aggregate, cells: unknown[], isLevel: boolean, isTime: boolean): unknown {
  const whole = cells.filter((value) => value !== null);
  const values = whole.flatMap((value) => (Array.isArray(value) ? value : [value])).filter((value) => value !== null);
  const different = [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
  const numbers = values.filter((value) => typeof value === "number").sort((a, b) => a - b);
  const ordered = [...values].sort((a, b) => compareCells(a, b, 1, isLevel));
  switch (fn) {
    case "count":
      return whole.length;
    case "count_distinct":
      return different.length;
    case "first":
      return whole[0] ?? null;
    case "last":
      return whole.at(-1) ?? null;
    case "values":
      return different.sort(compareValues).slice(0, 100);
    case "min":
      return (isLevel || isTime ? ordered[0] : numbers[0]) ?? null;
    case "max":
      return (isLevel || isTime ? ordered.at(-1) : numbers.at(-1)) ?? null;
    case "sum":
    case "avg": {
      if (numbers.length === 0) return null;
      // The numbers of the tests are small fractions of powers of two: their sums are exact in any order.
      const sum = numbers.reduce((all, value) => all + value, 0);
      return fn === "sum" ? sum : sum / numbers.length;
    }
    default: {
      const permille = { p50: 500, p75: 750, p90: 900, p95: 950, p99: 990, p999: 999 }[fn as string] ?? 0;
      return numbers[Math.ceil((numbers.length * permille) / 1000) - 1] ?? null;
    }
  }
}

function rowPasses(filter: Filter, row: unknown[], table: Plain, now: number): boolean {
  switch (filter.kind) {
    case "all":
      return true;
    case "not":
      return !rowPasses(filter.filter, row, table, now);
    case "and":
      return filter.filters.every((each) => rowPasses(each, row, table, now));
    case "or":
      return filter.filters.some((each) => rowPasses(each, row, table, now));
    case "text":
      throw new Error("A table has no text");
    case "field": {
      const name = nameOf(filter.field);
      const value = row[table.names.indexOf(name)] ?? null;
      if (value === null) return false;
      const own = [value, ...(Array.isArray(value) ? value.flat(Number.POSITIVE_INFINITY) : [])];
      const isOfTime = JSON.stringify(filter.test).includes('"time"');
      const times = isOfTime && table.times.has(name) ? own.map((each) => Date.parse(String(each))) : [];
      return [...own, ...times].some((each) => holds(filter.test, each, now));
    }
  }
}
