import { printField } from "../../query-language/fields.ts";
import { TYPE_BITS } from "../aggregate/aggregator.ts";
import { MAX_ROWS, typeOfField } from "../aggregate/table.ts";
import { compareTexts } from "../aggregate/values.ts";
import { parseStoredLine } from "../entry.ts";
import type { BatchMatcher, LineMatch } from "../query/batch-matcher.ts";
import type { WorkMeter } from "../query/budget.ts";
import { isRecord } from "../query/data-path.ts";
import type { LineSource } from "../query/feed.ts";
import { FACET_MEMBERS, type FacetAdder, FacetColumns } from "../segments/scan/facet-columns.ts";
import type { CountSink, RowSink } from "../stats/count-feed.ts";
import { type Counter, countInto, type MadeTable } from "./counter.ts";
import type { PipeOf, TablePipe } from "./search-plan.ts";
import type { SearchRun } from "./search-query.ts";
import { jsonBytes } from "./value-table.ts";

/** The fields of entries with their most frequent values. */

const FACET_LIMITS = {
  /** Values shown of a field, without a number. */
  values: 10,
  /** Different values of a field that are counted apart, and bytes of one as JSON. */
  counted: 1000,
  valueBytes: 256,
  /** Fields. */
  fields: 2000,
  /** Bytes of all of them. */
  bytes: 8 * 1024 * 1024,
} as const;

/** Approximate bytes of a counted value and of a field, without their texts. */
const VALUE_BYTES = 120;
const FIELD_BYTES = 600;

/** Work units of parsing a line and each of its bytes, and of counting a value. */
const LINE_WORK = 1500;
const LINE_BYTE_WORK = 6;
const VALUE_WORK = 200;

interface ValueCount {
  count: number;
  /** Number of the last entry that was counted. An entry counts once, however often an array has the value. */
  last: number;
}

/** The values of one field so far. */
class FieldValues {
  entries = 0;
  /** Types of the values; see `TYPE_BITS`. */
  types = 0;
  last = -1;
  /** Whether there are values that were not counted. */
  isCut = false;
  readonly values = new Map<string, ValueCount>();
}

/** Counts fields and their values. */
export class FacetCounts implements FacetAdder {
  readonly fields = new Map<string, FieldValues>();
  /** Whether there are more fields. */
  isCut = false;
  #entry = 0;
  #bytes = 0;
  readonly #mayHold: (bytes: number) => boolean;
  readonly #meter: WorkMeter;
  /** Fields of paths that were asked for before. */
  readonly #byPath = new WeakMap<readonly string[], FieldValues>();

  constructor(mayHold: (bytes: number) => boolean, meter: WorkMeter) {
    this.#mayHold = mayHold;
    this.#meter = meter;
  }

  addEntries(path: readonly string[] | string, entries: number, types: number): void {
    const field = this.#fieldAt(path);
    if (field === null) return;
    field.entries += entries;
    field.types |= types;
  }

  addValues(path: readonly string[] | string, text: string, entries: number): void {
    const field = this.#fieldAt(path);
    if (field === null) return;
    const known = field.values.get(text);
    if (known !== undefined) known.count += entries;
    else this.#addNew(field, text, entries, -1);
  }

  #fieldAt(path: readonly string[] | string): FieldValues | null {
    if (typeof path === "string") return this.#fieldOf(path);
    const known = this.#byPath.get(path);
    if (known !== undefined) return known;
    const field = this.#fieldOf(printField({ kind: "data", path: [...path] }));
    if (field !== null) this.#byPath.set(path, field);
    return field;
  }

  /** Begins an entry. */
  begin(): void {
    this.#entry++;
  }

  /** Counts what the current entry has at a path: each leaf under its own path, each item of an array. */
  addAll(value: unknown, path: string[]): void {
    if (Array.isArray(value)) {
      this.#addType(path, TYPE_BITS.array);
      for (const item of value) {
        if (Array.isArray(item)) this.#addType(path, TYPE_BITS.nested);
        else this.addAll(item, path);
      }
    } else if (isRecord(value)) {
      for (const [name, member] of Object.entries(value)) this.addAll(member, [...path, name]);
    } else this.addValue(printField({ kind: "data", path }), value);
  }

  /** Counts a value of the current entry. */
  addValue(name: string, value: unknown): void {
    const field = this.#fieldOf(name);
    if (field === null) return;
    this.#addTo(field, typeBit(value));
    if (value !== null) this.#addText(field, jsonBytes(value));
  }

  #addType(path: readonly string[], bit: number): void {
    if (path.length === 0) return;
    const field = this.#fieldOf(printField({ kind: "data", path: [...path] }));
    if (field !== null) this.#addTo(field, bit);
  }

  #addTo(field: FieldValues, bit: number): void {
    field.types |= bit;
    if (field.last === this.#entry) return;
    field.last = this.#entry;
    field.entries++;
  }

  #addText(field: FieldValues, text: string): void {
    this.#meter.add(VALUE_WORK + text.length);
    const known = field.values.get(text);
    if (known !== undefined) {
      if (known.last !== this.#entry) known.count++;
      known.last = this.#entry;
      return;
    }
    this.#addNew(field, text, 1, this.#entry);
  }

  #addNew(field: FieldValues, text: string, count: number, last: number): void {
    const isFull = field.values.size === FACET_LIMITS.counted || text.length > FACET_LIMITS.valueBytes;
    if (isFull || !this.#take(text.length + VALUE_BYTES)) field.isCut = true;
    else field.values.set(text, { count, last });
  }

  #fieldOf(name: string): FieldValues | null {
    const known = this.fields.get(name);
    if (known !== undefined) return known;
    if (this.fields.size === FACET_LIMITS.fields || !this.#take(name.length * 2 + FIELD_BYTES)) {
      this.isCut = true;
      return null;
    }
    const field = new FieldValues();
    this.fields.set(name, field);
    return field;
  }

  #take(bytes: number): boolean {
    const held = this.#bytes + bytes;
    if (held > FACET_LIMITS.bytes || !this.#mayHold(held)) return false;
    this.#bytes = held;
    return true;
  }
}

function typeBit(value: unknown): number {
  switch (typeof value) {
    case "string":
      return TYPE_BITS.string;
    case "number":
      return TYPE_BITS.number;
    case "boolean":
      return TYPE_BITS.boolean;
    default:
      return TYPE_BITS.null;
  }
}

const MEMBERS = [
  ["level", FACET_MEMBERS.level],
  ["category", FACET_MEMBERS.category],
  ["type", FACET_MEMBERS.type],
  ["session", FACET_MEMBERS.session],
  ["traceId", FACET_MEMBERS.traceId],
  ["spanId", FACET_MEMBERS.spanId],
] as const;

export class FacetSink implements CountSink {
  readonly takesCounts = false;
  readonly needsLevelsAlone = false;
  readonly isFull = false;
  readonly full = null;
  matched = 0;
  examined = 0;
  readonly rows: RowSink;
  readonly #counts: FacetCounts;
  readonly #meter: WorkMeter;

  constructor(counts: FacetCounts, meter: WorkMeter) {
    this.#counts = counts;
    this.#meter = meter;
    this.rows = new FacetColumns(counts, meter, (rows) => {
      this.matched += rows;
    });
  }

  add(): void {
    throw new RangeError("Stored counts have no fields.");
  }

  addLevel(): void {
    this.add();
  }

  scanned(count: number): void {
    this.examined += count;
  }

  addLine({ raw, start, end }: LineMatch, lines: LineSource, _matcher: BatchMatcher): boolean {
    this.#meter.add(LINE_WORK + (end - start) * LINE_BYTE_WORK);
    const entry = parseStoredLine(raw.toString("utf8", start, end));
    if (entry === null) return false;
    const counts = this.#counts;
    counts.begin();
    this.matched++;
    for (const [name, own] of MEMBERS) {
      const value = entry[name];
      if (value !== undefined) counts.addValue(own, value);
    }
    counts.addValue("project", lines.projectId);
    counts.addAll(entry.data ?? {}, []);
    return true;
  }
}

export function facetCounter(search: SearchRun, pipe: PipeOf<"facets">, tablePipes: readonly TablePipe[]): Counter {
  const { memory, pacer } = search.reading;
  const counts = new FacetCounts((bytes) => memory.canHoldRows(bytes), pacer.meter);
  const sink = new FacetSink(counts, pacer.meter);
  const scan = () => countInto(search, search.filter, sink);
  return { sink, scan, finish: () => finish(search, pipe, counts), tablePipes };
}

/** Work units of ordering and writing a value. */
const SHOWN_WORK = 1000;

async function finish({ reading }: SearchRun, { limit }: PipeOf<"facets">, counts: FacetCounts): Promise<MadeTable> {
  const { memory, pacer, budget } = reading;
  const fields = [...counts.fields].sort(([a, { entries: m }], [b, { entries: n }]) => n - m || (a < b ? -1 : 1));
  const rows: string[] = [];
  const cut: string[] = [];
  let [bytes, types, all] = [0, 0, 0];
  for (const [name, { entries, types: own, values, isCut }] of fields) {
    const type = typeOfField(null, own);
    types |= own;
    if (isCut) cut.push(name);
    const ordered = [...values].sort(([a, { count: m }], [b, { count: n }]) => n - m || compareTexts(a, b));
    const shown = ordered.slice(0, limit ?? FACET_LIMITS.values);
    const texts = shown.length === 0 ? ["null,null"] : shown.map(([text, { count }]) => `${text},${count}`);
    for (const text of texts) {
      const row = `[${jsonBytes(name)},"${type}",${entries},${text}]`;
      all++;
      bytes += row.length;
      if (rows.length < MAX_ROWS && bytes <= budget.answerBytes) rows.push(row);
    }
    memory.renew();
    await pacer.pause(SHOWN_WORK * (1 + values.size));
  }
  const notes: string[] = [];
  if (rows.length < all) notes.push(`The table has the first ${counted(rows.length)} of ${counted(all)} rows.`);
  if (counts.isCut) notes.push(`There are more than ${counted(counts.fields.size)} fields: some are missing.`);
  if (cut.length > 0) {
    const shown = cut.slice(0, SHOWN_FIELDS).map((name) => `\`${name}\``);
    const others = cut.length > SHOWN_FIELDS ? ` and ${counted(cut.length - SHOWN_FIELDS)} others` : "";
    notes.push(
      `${shown.join(", ")}${others}: too many or too long values to count all of them; frequent ones may be missing.`,
    );
  }
  const columns = [
    { name: "field", type: "string" as const },
    { name: "type", type: "string" as const },
    { name: "entries", type: "number" as const },
    { name: "value", type: typeOfField(null, types) },
    { name: "count", type: "number" as const },
  ];
  return { columns, rows, exact: cut.length === 0 && !counts.isCut, notes, levels: [] };
}

/** Fields that a note names. */
const SHOWN_FIELDS = 10;

function counted(number: number): string {
  return number.toLocaleString("en-US");
}
