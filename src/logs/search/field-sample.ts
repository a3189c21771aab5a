import { nearest } from "../../query-language/error.ts";
import { OWN_NAMES, printField } from "../../query-language/fields.ts";
import type { Field, Filter, Key, OwnField, Pipe, Query } from "../../query-language/syntax.ts";
import { columnsAfter } from "../../query-language/table-columns.ts";
import type { Entry } from "../entry.ts";
import { dataAt, isOwnMember, isRecord } from "../query/data-path.ts";
import { someAt, someItem } from "./data-values.ts";

/** Type of a field's values. `any`: of several types. */
export type SampledType = "string" | "number" | "boolean" | "null" | "object" | "any";

export interface SampledField {
  field: Field;
  type: SampledType;
  /** Entries of the sample that have the field. */
  count: number;
}

/** Bounds of one sample, because clients choose names freely. */
const MAX_FIELDS = 1000;
const MAX_VALUES = 1000;
/** Characters of a value that is suggested. */
const MAX_VALUE = 120;

const OWN_MEMBERS: readonly (readonly [keyof Entry, OwnField])[] = [
  ["level", "level"],
  ["category", "category"],
  ["type", "type"],
  ["message", "message"],
  ["session", "session"],
  ["traceId", "trace"],
  ["spanId", "span"],
  ["service", "service"],
  ["host", "host"],
];

/** Returns the fields of entries, the most frequent first. */
export function sampledFields(entries: readonly Entry[]): SampledField[] {
  const found = new Map<string, SampledField & { last: number }>();
  const add = (field: Field, type: SampledType, entry: number) => {
    const name = printField(field);
    const known = found.get(name);
    if (known === undefined) {
      if (found.size < MAX_FIELDS) found.set(name, { field, type, count: 1, last: entry });
      return;
    }
    if (known.last !== entry) known.count++;
    known.last = entry;
    if (known.type !== type && type !== "null") known.type = known.type === "null" ? type : "any";
  };
  for (const [index, entry] of entries.entries()) {
    for (const [member, name] of OWN_MEMBERS)
      if (entry[member] !== undefined) add({ kind: "own", name }, "string", index);
    addMembers(entry.data, [], (path, type) => add(memberField(path), type, index));
  }
  return [...found.values()]
    .map(({ field, type, count }) => ({ field, type, count }))
    .sort((a, b) => b.count - a.count);
}

/** Returns the field of a member of `data`: `service` of a client that sends it in `data` is no other field than the own one. */
function memberField(path: string[]): Field {
  const [name] = path;
  return path.length === 1 && isOwnMember(name) ? { kind: "own", name } : { kind: "data", path };
}

const PLAIN_NAMES = /^[\p{L}_@$][\p{L}\p{N}_@$-]*(?:\.[\p{L}_@$][\p{L}\p{N}_@$-]*)+$/u;

/** Calls `add` for each value in `data`, with its path as it would be written. Items of arrays have the path of their array. */
function addMembers(value: unknown, path: readonly string[], add: (path: string[], type: SampledType) => void): void {
  if (Array.isArray(value)) {
    for (const item of value.slice(0, 20)) addMembers(item, path, add);
    return;
  }
  if (!isRecord(value)) {
    if (path.length > 0) add([...path], typeOf(value));
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    // A dotted path also finds a name with the dots, and is shorter to write than the name in quotes.
    addMembers(member, [...path, ...(PLAIN_NAMES.test(name) ? name.split(".") : [name])], add);
  }
}

function typeOf(value: unknown): SampledType {
  if (value === null) return "null";
  return typeof value === "string" ? "string" : typeof value === "number" ? "number" : "boolean";
}

/** Returns how many scalars, arrays and objects a value has. */
export function valuesIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + valuesIn(item), 1);
  return isRecord(value) ? valuesIn(Object.values(value)) : 1;
}

/** A value of a field, as its text in a query has it, and the entries of the sample that have it. */
export interface SampledValue {
  text: string;
  count: number;
}

/** Returns the values of a field in entries, the most frequent first, and their type. */
export function sampledValues(entries: readonly Entry[], field: Field): { type: SampledType; values: SampledValue[] } {
  const counts = new Map<string, number>();
  let type: SampledType | null = null;
  for (const entry of entries) {
    const own = new Set<string>();
    visit(entry, field, (value) => {
      if (value === undefined || isRecord(value)) return;
      const kind = typeOf(value);
      type = type === null || type === kind ? kind : "any";
      const text = String(value);
      if (value !== null && text !== "" && text.length <= MAX_VALUE) own.add(text);
    });
    for (const text of own) {
      if (counts.has(text) || counts.size < MAX_VALUES) counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  }
  const values = [...counts].map(([text, count]): SampledValue => ({ text, count }));
  return { type: type ?? "any", values: values.sort((a, b) => b.count - a.count) };
}

function visit(entry: Entry, field: Field, each: (value: unknown) => void): void {
  const items = (value: unknown) =>
    someItem(value, (item) => {
      each(item);
      return false;
    });
  if (field.kind === "data") someAt(dataAt(entry, field.path), field.path, items);
  if (field.kind !== "own") return;
  const member = OWN_MEMBERS.find(([, name]) => name === field.name)?.[0];
  if (member !== undefined && entry[member] !== undefined) items(entry[member]);
  else if (isOwnMember(field.name)) {
    const isFound = someAt(entry.data, [field.name], (value) => {
      if (!isRecord(value)) each(value);
      return !isRecord(value);
    });
    if (!isFound) someAt(entry.data, [field.name, "name"], items);
  }
}

/**
 * Members that are looked for, which takes a millisecond of each in lists of thousands of objects; those of which an answer
 * says that they are unknown; names that each is compared with.
 */
const MAX_LOOKED_FOR = 20;
const MAX_UNKNOWN = 3;
const MAX_COMPARED = 300;

/** Returns a note for each field that no entry of a sample has. An empty sample proves nothing. */
export function unknownFields(entries: readonly Entry[], fields: Iterable<Field>): string[] {
  if (entries.length === 0) return [];
  const unknown = new Map<string, Field>();
  const looked = new Set<string>();
  for (const field of fields) {
    const name = printField(field);
    if (field.kind !== "data" || looked.has(name)) continue;
    looked.add(name);
    if (!entries.some((entry) => hasMember(entry, field))) unknown.set(name, field);
    if (unknown.size === MAX_UNKNOWN || looked.size === MAX_LOOKED_FOR) break;
  }
  if (unknown.size === 0) return [];
  const known = sampledFields(entries).slice(0, MAX_COMPARED);
  const names = [...OWN_NAMES, ...known.map(({ field }) => printField(field))];
  return [...unknown.keys()].map((name) => {
    const meant = memberMeant(name, names);
    return `No recent entry has the member \`${name}\`${meant === undefined ? "." : `; did you mean \`${meant}\`?`}`;
  });
}

/** Returns the name that is meant by one that no entry has: `user.plan` by `plan`, `city` by `cities`. */
function memberMeant(name: string, names: readonly string[]): string | undefined {
  const inner = names.find((each) => each.toLowerCase().endsWith(`.${name.toLowerCase()}`));
  const single = name.replace(/ies$/i, "y").replace(/([^s])s$/i, "$1");
  return inner ?? nearest(name, names) ?? (single === name ? undefined : memberMeant(single, names));
}

/** Returns the members that tests require, and those that pipes read. That an entry lacks one may be what is searched for. */
export function namedMembers({ filter, pipes }: Query): Field[] {
  const fields = testedFields(filter);
  for (const pipe of pipes) {
    if (pipe.kind === "where") fields.push(...testedFields(pipe.filter));
    const read = fieldsRead(pipe);
    fields.push(...read.map(({ field }) => field));
    if (columnsAfter(pipe, null) !== null) break;
  }
  return fields.filter(isMember);
}

/**
 * Returns the members that pipes read although no entry that passed has one.
 * @param filled the columns of the table that have values; `null`: there is no table
 * @param first the first entry of an answer without a table
 */
export function emptyMembers({ pipes }: Query, filled: ReadonlySet<string> | null, first: Entry | null): Field[] {
  const table = pipes.find((pipe) => columnsAfter(pipe, null) !== null);
  if (table !== undefined) {
    const empty = fieldsRead(table).filter(({ column }) => filled?.has(column) !== true);
    return empty.map(({ field }) => field).filter(isMember);
  }
  // Entries without the field come last.
  const sort = pipes.findLast((pipe) => pipe.kind === "sort");
  if (sort === undefined || sort.by.kind !== "data") return [];
  return first === null || hasMember(first, sort.by) ? [] : [sort.by];
}

/** Returns the fields of entries that a pipe reads, with the columns that show them. */
function fieldsRead(pipe: Pipe): { field: Field; column: string }[] {
  const names = columnsAfter(pipe, null)?.map(({ name }) => name) ?? [];
  const shown = (fields: readonly (Field | null)[], from = 0) =>
    fields.flatMap((field, at) => (field === null ? [] : [{ field, column: names[from + at] ?? "" }]));
  switch (pipe.kind) {
    case "sort":
      return shown([pipe.by]);
    case "fields":
      return shown(pipe.fields);
    case "stats":
      return [
        ...shown(pipe.by.map(fieldOfKey)),
        ...shown(
          pipe.aggregates.map(({ field }) => field),
          pipe.by.length,
        ),
      ];
    case "count":
    case "top":
    case "rare":
      return shown(pipe.by.map(fieldOfKey));
    default:
      return [];
  }
}

function fieldOfKey(key: Key): Field | null {
  return key.kind === "field" ? key.field : null;
}

function isMember({ kind }: Field): boolean {
  return kind === "data";
}

function hasMember(entry: Entry, { path }: Extract<Field, { kind: "data" }>): boolean {
  return someAt(dataAt(entry, path), path, () => true);
}

function testedFields(filter: Filter): Field[] {
  if (filter.kind === "field") return [filter.field];
  return filter.kind === "and" || filter.kind === "or" ? filter.filters.flatMap(testedFields) : [];
}
