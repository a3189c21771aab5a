import { isUtf8 } from "node:buffer";
import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { OWN_MEMBERS } from "../../entry.ts";
import type { DataColumn } from "../columns.ts";
import { pathKey } from "../columns.ts";
import {
  IN_COLUMN,
  IN_REST,
  lineTemplate,
  OPTIONAL,
  parseTemplate,
  placeOf,
  type Template,
  templateOf,
  WHOLE_BYTES,
  WHOLE_LINE,
} from "../template.ts";
import { KIND } from "../value-scanner.ts";
import { MadeText, takes } from "./cursors.ts";
import type { LineShape } from "./line-shape.ts";
import type { RowGroup } from "./row-group.ts";
import {
  DICTIONARY_BYTES,
  type EncodedColumn,
  encodePlain,
  encodeText,
  type Pause,
  writeIndices,
} from "./text-column.ts";
import { copy, TextDictionary } from "./text-dictionary.ts";

/** Templates of one row group. Lines that would need more are stored whole. */
const MAX_TEMPLATES = 4096;
const MAX_TEMPLATE_BYTES = 1024 * 1024;
const PAUSE_ROWS = 8192;
/** Templates that are made between two pauses, each in some 30 us. */
const PAUSE_TEMPLATES = 128;

/** Values of `Variants.of` for rows without a template. */
const WHOLE = -1;
const NO_DATA = -2;

/** In place of a mark: the template does not have the member. */
const LEFT_OUT = 0;

/** A shape with the choice which of its values are in columns. */
interface Variant {
  template: Template;
  /** Slots of the line whose values are in `rest`. */
  restSlots: readonly number[];
}

/** State of a shape after the columns are chosen. */
interface ShapeColumns {
  /** Bit `1 << kind` of each slot in `data` whose value of that kind is in a column. */
  readonly masks: Int32Array;
  /** Mark of each slot in the variant that was used last; `LEFT_OUT` for a member that its lines do not have. */
  readonly marks: Uint8Array;
  last: number;
  readonly byKey: Map<string, number>;
}

const encoder = new TextEncoder();
const LINE_MARK = encoder.encode(WHOLE_LINE);
const BYTES_MARK = encoder.encode(WHOLE_BYTES);

/** Decides for each row which values are in columns, and encodes `shape` and `rest`. */
export class Variants {
  /** Index of each row's variant, `WHOLE` or `NO_DATA`. */
  readonly of: Int32Array;
  readonly #group: RowGroup;
  readonly #variants: Variant[] = [];
  readonly #shapes: ShapeColumns[];
  #bytes = 0;
  /** Rows of each variant, and of lines that are stored whole. */
  readonly #rows: number[] = [];
  #wholeRows = 0;
  /** What the last row has in `rest`. */
  #restBytes = new Uint8Array(0);

  private constructor(group: RowGroup, columns: readonly DataColumn[]) {
    this.#group = group;
    this.of = new Int32Array(group.rows);
    const byPath = new Map<string, number>();
    for (const { path, type } of columns) {
      const key = pathKey(path);
      // A null has no type: a column of any type gives it back.
      let mask = (byPath.get(key) ?? 0) | (1 << KIND.null);
      for (let kind = 0; kind < KIND.null; kind++) if (takes(type, kind)) mask |= 1 << kind;
      byPath.set(key, mask);
    }
    this.#shapes = group.splitter.shapes.map(({ data }) => ({
      masks: Int32Array.from(data, ({ key }) => byPath.get(key) ?? 0),
      marks: new Uint8Array(data.length),
      last: WHOLE,
      byKey: new Map(),
    }));
  }

  /** Call before any column of the row group is encoded: a line may become one that is stored whole. */
  static *choose(group: RowGroup, columns: readonly DataColumn[]): Generator<Pause, Variants> {
    const variants = new Variants(group, columns);
    let pausedAt = 0;
    for (let row = 0; row < group.rows; row++) {
      const variant = variants.#choose(row);
      variants.of[row] = variant;
      variants.#count(variant);
      const made = variants.#variants.length;
      if (row % PAUSE_ROWS !== PAUSE_ROWS - 1 && made - pausedAt < PAUSE_TEMPLATES) continue;
      pausedAt = made;
      yield null;
    }
    return variants;
  }

  /** Returns how many rows may have a value of a path in `rest`. */
  elsewhere(path: readonly string[]): number {
    return this.#variants.reduce((sum, { template, restSlots }, variant) => {
      const isElsewhere = restSlots.length > 0 && placeOf(template, path) === "rest";
      return isElsewhere ? sum + (this.#rows[variant] ?? 0) : sum;
    }, this.#wholeRows);
  }

  #count(variant: number): void {
    if (variant === WHOLE) this.#wholeRows++;
    else if (variant !== NO_DATA) this.#rows[variant] = (this.#rows[variant] ?? 0) + 1;
  }

  *encodeShapes(): Generator<Pause, EncodedColumn> {
    const { rows } = this.#group;
    const dictionary = new TextDictionary(DICTIONARY_BYTES);
    const known = new Int32Array(this.#variants.length).fill(-1);
    const indices = new Int32Array(rows);
    const validity = new Uint8Array(rows);
    let present = 0;
    let isIndexed = true;
    for (let row = 0; row < rows; row++) {
      const variant = this.of[row] ?? 0;
      if (variant === NO_DATA) continue;
      let index = known[variant] ?? -1;
      if (index < 0) {
        const text = this.#shapeText(row) ?? LINE_MARK;
        index = dictionary.add(text, 0, text.length);
        isIndexed = index >= 0;
        if (!isIndexed) break;
        if (variant >= 0) known[variant] = index;
      }
      validity[row] = 1;
      indices[present++] = index;
    }
    const encoded = isIndexed ? writeIndices(rows, present === rows ? null : validity, indices, dictionary) : null;
    dictionary.release();
    detachBuffer(indices);
    detachBuffer(validity);
    return encoded ?? (yield* encodePlain(rows, new MadeText((row) => this.#shapeText(row))));
  }

  /** Frees its memory, after both columns. */
  release(): void {
    detachBuffer(this.of);
    detachBuffer(this.#restBytes);
  }

  encodeRest(): Generator<Pause, EncodedColumn> {
    return encodeText(this.#group.rows, new MadeText((row) => this.#restText(row)));
  }

  #choose(row: number): number {
    const group = this.#group;
    const index = group.shape[row] ?? -1;
    const shape = group.splitter.shapes[index];
    const own = this.#shapes[index];
    if (shape === undefined || own === undefined) return WHOLE;
    if (shape.template === null && shape.own.length === 0) return NO_DATA;
    const { masks, marks } = own;
    const first = (group.first[row] ?? 0) + shape.firstData;
    let isSame = own.last >= 0;
    for (let slot = 0; slot < masks.length; slot++) {
      const kind = group.kinds[first + slot] ?? 0;
      const mask = masks[slot] ?? 0;
      let mark: number = IN_REST;
      if (kind === KIND.absent) mark = mask === 0 ? LEFT_OUT : OPTIONAL;
      // A null is in a column, but the column has no value.
      else if (((mask >> kind) & 1) === 1) {
        const isCertain = shape.union === null || slot < shape.own.length || kind === KIND.null;
        mark = isCertain ? IN_COLUMN : OPTIONAL;
      }
      if (marks[slot] !== mark) {
        marks[slot] = mark;
        isSame = false;
      }
    }
    if (!isSame) own.last = this.#variantOf(shape, own);
    if (own.last === WHOLE) group.makeWhole(row);
    return own.last;
  }

  #variantOf(shape: LineShape, { marks, byKey }: ShapeColumns): number {
    const key = marks.join();
    const known = byKey.get(key);
    if (known !== undefined) return known;
    if (this.#variants.length === MAX_TEMPLATES || this.#bytes > MAX_TEMPLATE_BYTES) return WHOLE;
    const bytes = templateWith(shape, marks);
    const template = parseTemplate(bytes);
    this.#bytes += bytes.length;
    if (template === null) return WHOLE;
    const restSlots = [...marks.keys()].filter((slot) => marks[slot] === IN_REST).map((slot) => shape.firstData + slot);
    const variant = this.#variants.push({ template, restSlots }) - 1;
    byKey.set(key, variant);
    return variant;
  }

  #shapeText(row: number): Uint8Array | null {
    const variant = this.of[row] ?? 0;
    if (variant === NO_DATA) return null;
    if (variant !== WHOLE) return this.#variants[variant]?.template.bytes ?? null;
    return isUtf8(this.#group.line(row)) ? LINE_MARK : BYTES_MARK;
  }

  #restText(row: number): Uint8Array | null {
    const index = this.of[row] ?? 0;
    if (index === NO_DATA) return null;
    const group = this.#group;
    if (index === WHOLE) {
      const line = group.line(row);
      return isUtf8(line) ? line : encoder.encode(Buffer.from(line).toString("base64"));
    }
    const variant = this.#variants[index];
    if (variant === undefined || variant.restSlots.length === 0) return null;
    const body = group.bodies[row] ?? new Uint8Array();
    const { restPieces } = variant.template;
    let length = 0;
    const write = (from: Uint8Array, start: number, end: number) => {
      const needed = length + end - start;
      if (needed > this.#restBytes.length) {
        const grown = new Uint8Array(needed * 2);
        grown.set(this.#restBytes.subarray(0, length));
        detachBuffer(this.#restBytes);
        this.#restBytes = grown;
      }
      copy(from, start, end, this.#restBytes, length);
      length = needed;
    };
    for (const [at, slot] of variant.restSlots.entries()) {
      const piece = restPieces[at] ?? LINE_MARK;
      write(piece, 0, piece.length);
      write(body, group.valueStart(row, slot), group.ends[(group.first[row] ?? 0) + slot] ?? 0);
    }
    const last = restPieces.at(-1) ?? LINE_MARK;
    write(last, 0, last.length);
    return this.#restBytes.subarray(0, length);
  }
}

function templateWith(shape: LineShape, marks: Uint8Array): Uint8Array {
  const own = shape.own.map((member, slot) => [OWN_MEMBERS[member] ?? "", marks[slot] ?? IN_REST] as const);
  return lineTemplate(own, dataTemplateWith(shape, marks.subarray(own.length)));
}

function dataTemplateWith({ template, data, union, own }: LineShape, marks: Uint8Array): Uint8Array | null {
  if (union !== null) return templateOf(union, (member) => marks[member] || null);
  if (template === null) return null;
  const bytes = template.slice();
  for (const [slot, { at }] of data.slice(own.length).entries()) bytes[at] = marks[slot] ?? IN_REST;
  return bytes;
}
