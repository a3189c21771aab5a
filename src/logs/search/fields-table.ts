import type { Field } from "../../query-language/syntax.ts";
import { TYPE_BITS } from "../aggregate/aggregator.ts";
import { LineFields } from "../aggregate/line-fields.ts";
import { MAX_ROWS, typeOfField } from "../aggregate/table.ts";
import type { WorkMeter } from "../query/budget.ts";
import type { Row } from "../query/top-rows.ts";
import type { MadeTable } from "./counter.ts";
import { RowLines } from "./row-lines.ts";
import { aggregateField } from "./search-plan.ts";

/** A table of fields of entries, one row for each. */
export class FieldsTable {
  /** Whether no further row fits. */
  isFull = false;
  readonly #fields: ReturnType<typeof aggregateField>[];
  readonly #reader: LineFields;
  readonly #types: number[];
  readonly #texts: string[] = [];
  readonly #lines = new RowLines();
  readonly #maxBytes: number;
  readonly #meter: WorkMeter;
  #bytes = 0;

  /** @param maxBytes of all rows */
  constructor(fields: readonly Field[], maxBytes: number, meter: WorkMeter) {
    this.#fields = fields.map(aggregateField);
    this.#reader = new LineFields(this.#fields);
    this.#types = this.#fields.map(() => 0);
    this.#maxBytes = maxBytes;
    this.#meter = meter;
  }

  /** @returns the bytes of the row */
  add(row: Row): number {
    let text = "";
    this.#lines.read(row, (match, source) => {
      if (!this.#reader.read(match, source)) return;
      this.#meter.add(this.#reader.takeWork());
      const cells = this.#reader.found.map((found, at) => {
        this.#types[at] = (this.#types[at] ?? 0) | found.types;
        return found.isThere ? found.whole() : "null";
      });
      text = `[${cells.join(",")}]`;
    });
    if (text === "") return 0;
    const isTooLarge = this.#texts.length > 0 && this.#bytes + text.length > this.#maxBytes;
    if (isTooLarge || this.#texts.length === MAX_ROWS) {
      this.isFull = true;
      return 0;
    }
    this.#texts.push(text);
    this.#bytes += text.length;
    return text.length;
  }

  /** @param hasMore whether there are further entries, which the query does not leave out */
  finish(hasMore: boolean): MadeTable {
    const columns = this.#fields.map(({ name, own }, at) => ({
      name,
      type: typeOfField(own, wholeBits(this.#types[at] ?? 0)),
    }));
    const count = this.#texts.length.toLocaleString("en-US");
    const isCut = this.isFull || hasMore;
    const notes = isCut ? [`The table has the first ${count} entries; there are more.`] : [];
    const levels = this.#fields.map(({ own }) => own === "level");
    return { columns, rows: this.#texts, exact: !isCut, isCut, notes, levels };
  }
}

/** Types of all that entries have at a field: an array is one value. */
function wholeBits(types: number): number {
  return types & TYPE_BITS.array ? types | TYPE_BITS.nested : types;
}
