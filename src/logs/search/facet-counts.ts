import { printField } from "../../query-language/fields.ts";
import { TYPE_BITS } from "../aggregate/aggregator.ts";
import type { WorkMeter } from "../query/budget.ts";
import { isOwnMember, isRecord } from "../query/data-path.ts";
import type { FacetAdder } from "../segments/scan/facet-columns.ts";
import { wideWorkOf } from "./data-values.ts";
import { jsonBytes } from "./value-table.ts";

export const FACET_LIMITS = {
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

/** Work units of counting a value, and of writing the name of a field, for each member and character of its path. */
const VALUE_WORK = 200;
const NAME_WORK = 200;
const NAME_CHARACTER_WORK = 4;

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
    const field = this.#fieldOf(nameOf(path));
    if (field !== null) this.#byPath.set(path, field);
    return field;
  }

  /** Begins an entry. */
  begin(): void {
    this.#entry++;
  }

  /** Counts what the current entry has at a path: each leaf under its own path, each item of an array. */
  addAll(value: unknown, path: string[]): void {
    if (Array.isArray(value)) this.#addItems(value, path);
    else if (isRecord(value)) {
      const members = Object.entries(value);
      this.#meter.add(wideWorkOf(members.length));
      for (const [name, member] of members) this.addAll(member, [...path, name]);
    } else this.addValue(this.#nameOf(path), value);
  }

  #addItems(items: readonly unknown[], path: string[]): void {
    // The name is written once: an array may have thousands of items, and a name the length of an entry.
    const name = this.#nameOf(path);
    this.#addType(name, TYPE_BITS.array);
    for (const item of items) {
      if (Array.isArray(item)) this.#addType(name, TYPE_BITS.nested);
      else if (isRecord(item)) this.addAll(item, path);
      else this.addValue(name, item);
    }
  }

  #nameOf(path: readonly string[]): string {
    const characters = path.reduce((sum, { length }) => sum + length, 0);
    this.#meter.add(NAME_WORK * path.length + NAME_CHARACTER_WORK * characters);
    return nameOf(path);
  }

  /** Counts a value of the current entry. */
  addValue(name: string, value: unknown): void {
    const field = this.#fieldOf(name);
    if (field === null) return;
    this.#addTo(field, typeBit(value));
    this.#meter.add(VALUE_WORK);
    if (value !== null) this.#addText(field, jsonBytes(value));
  }

  #addType(name: string, bit: number): void {
    this.#meter.add(VALUE_WORK);
    const field = this.#fieldOf(name);
    if (field !== null) this.#addTo(field, bit);
  }

  #addTo(field: FieldValues, bit: number): void {
    field.types |= bit;
    if (field.last === this.#entry) return;
    field.last = this.#entry;
    field.entries++;
  }

  #addText(field: FieldValues, text: string): void {
    this.#meter.add(text.length);
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

/** Returns the name of a member of `data`. `service` and `host` are no other fields than the own members. */
function nameOf(path: readonly string[]): string {
  const [name] = path;
  return path.length === 1 && isOwnMember(name) ? name : printField({ kind: "data", path: [...path] });
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
