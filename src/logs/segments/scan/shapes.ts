import { WORK, type WorkMeter } from "../../query/budget.ts";
import type { TextColumn } from "../decode/column-values.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { parseTemplate, placeOf, type Template, type ValuePlace, WHOLE_BYTES, WHOLE_LINE } from "../template.ts";

/** A shape that a query has met, with the places of the paths that it has asked for. */
export interface KnownShape {
  /** `null`: the line is whole in `rest`. */
  template: Template | null;
  /** By index of the path. */
  places: ValuePlace[];
}

/** Shapes and bytes of shapes that a query keeps for its next row groups, which mostly have the same. */
const MAX_KNOWN = 4096;
const MAX_KNOWN_BYTES = 512 * 1024;

/** The shapes that one query has met. */
export class ShapeCache {
  /** Paths that the query asks for. */
  readonly #paths: readonly (readonly string[])[];
  #known = new Map<string, KnownShape>();
  #bytes = 0;

  constructor(paths: readonly (readonly string[])[]) {
    this.#paths = paths;
  }

  /** @throws MalformedFile */
  get(text: string, bytes: Uint8Array, meter: WorkMeter): KnownShape {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    meter.add(WORK.text + text.length * WORK.shapeByte);
    const shape = this.#parse(text, bytes);
    if (this.#known.size === MAX_KNOWN || this.#bytes > MAX_KNOWN_BYTES) {
      this.#known = new Map();
      this.#bytes = 0;
    }
    this.#known.set(text, shape);
    this.#bytes += text.length;
    return shape;
  }

  #parse(text: string, bytes: Uint8Array): KnownShape {
    if (text === WHOLE_LINE || text === WHOLE_BYTES) return { template: null, places: [] };
    const template = parseTemplate(new Uint8Array(bytes));
    if (template === null) throw new MalformedFile("A shape is damaged.");
    return { template, places: this.#paths.map((path) => placeOf(template, path)) };
  }
}

/** Where the values of each row of a row group are. */
export class Shapes {
  /** Index of the shape by row; -1 without `data`. */
  readonly indices: Int32Array;
  /** A shape that no row of the selection has may be absent. */
  readonly #shapes: readonly (KnownShape | undefined)[];

  private constructor(indices: Int32Array, shapes: readonly (KnownShape | undefined)[]) {
    this.indices = indices;
    this.#shapes = shapes;
  }

  /**
   * @param column `shape` of the row group
   * @param rows whose shapes are needed; `null` for all
   * @throws MalformedFile
   */
  static *read(
    column: TextColumn,
    rows: Int32Array | null,
    cache: ShapeCache,
    meter: WorkMeter,
  ): Generator<void, Shapes> {
    const indices = column.kind === "indexedTexts" ? column.indices : new Int32Array(column.texts.length).fill(-1);
    const shapes: (KnownShape | undefined)[] = [];
    const byText = new Map<string, number>();
    const count = rows?.length ?? indices.length;
    for (let at = 0; at < count; at++) {
      const row = rows === null ? at : (rows[at] ?? 0);
      if (column.kind === "indexedTexts") {
        const index = indices[row] ?? -1;
        if (index < 0 || shapes[index] !== undefined) continue;
        const { dictionary } = column;
        shapes[index] = cache.get(dictionary.at(index), dictionary.bytesAt(index), meter);
      } else if (column.validity === null || column.validity[row] === 1) {
        const text = column.texts.at(row);
        meter.add(WORK.text + text.length * WORK.textByte);
        const index = byText.get(text) ?? shapes.push(cache.get(text, column.texts.bytesAt(row), meter)) - 1;
        byText.set(text, index);
        indices[row] = index;
      }
      if (meter.isDue) yield;
    }
    return new Shapes(indices, shapes);
  }

  /** Marks the rows whose line is whole in `rest`. @returns `null` without such a row */
  wholeRows(): Uint8Array | null {
    const isWhole = Array.from(this.#shapes, (shape) => shape?.template === null);
    if (!isWhole.includes(true)) return null;
    return Uint8Array.from(this.indices, (index) => (isWhole[index] === true ? 1 : 0));
  }

  /** Returns the places of a path by index of the shape. @param path index of it */
  places(path: number): readonly ValuePlace[] {
    // Lines that are whole have their values in `rest`.
    return this.map(({ template, places }) => (template === null ? "rest" : (places[path] ?? "absent")));
  }

  /** Returns the shapes by index. One that no needed row has counts as a shape without values. */
  known(): KnownShape[] {
    return Array.from(this.#shapes, (shape) => shape ?? UNUSED);
  }

  /** Returns a value for each shape. */
  map<T>(resultOf: (shape: KnownShape) => T): T[] {
    return this.known().map(resultOf);
  }
}

const UNUSED: KnownShape = {
  template: { bytes: new Uint8Array(), slots: [], own: 0, objects: [], restPieces: [] },
  places: [],
};
