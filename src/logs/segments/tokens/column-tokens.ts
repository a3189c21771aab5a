import { TokenHasher } from "../../cold/filter/bloom.ts";
import type { TokenTable } from "../../cold/filter/token-table.ts";
import { atId, atPath, hashId, hashValue, MARK, type TokenCollector } from "../../cold/filter/tokens.ts";
import { parseStoredLine } from "../../entry.ts";
import { foldCase } from "../../query/fold-case.ts";
import { type DataColumn, LEADING_COLUMNS } from "../columns.ts";
import { type ColumnValues, releaseColumn, type TextColumn, type Texts } from "../decode/column-values.ts";
import type { ChunkSource, SegmentReader } from "../decode/segment-reader.ts";
import type { Pause } from "../encode/text-column.ts";
import { readPageHeader } from "../parquet/page-header.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import { parseTemplate, WHOLE_BYTES, WHOLE_LINE } from "../template.ts";

const indexOf = (wanted: string) => LEADING_COLUMNS.findIndex(({ name }) => name === wanted);
const MESSAGE_COLUMN = indexOf("message");
const ID_COLUMNS = ["session", "trace_id", "span_id"].map(indexOf);
/** Values of which the tokens are added between two pauses. */
const PAUSE_VALUES = 8192;
const ASCII_END = 0x80;

/** Tokens of texts, of shapes and of values in `rest`, about. */
const OTHER_TOKENS = 1000;

/**
 * Returns about how many tokens a row group has: one for each value of a column that does not repeat, and for each value of a
 * dictionary.
 */
export function expectedTokens(reader: SegmentReader, group: number, chunk: ChunkSource): number {
  const rows = reader.rowGroups[group]?.rows ?? 0;
  let tokens = OTHER_TOKENS;
  for (const column of [...ID_COLUMNS, ...reader.properties.columns.map((_, index) => FIRST_DATA_COLUMN + index)]) {
    const range = reader.numberRange(group, column);
    const span = range === null ? Number.POSITIVE_INFINITY : range.max - range.min + 1;
    const isInteger = reader.dataTypeOf(column) === "integer";
    const isIndexed = reader.dictionaryBytes(group, column) > 0;
    const size = isIndexed ? readPageHeader(chunk(group, column), 0).header.values : Number.POSITIVE_INFINITY;
    tokens += Math.min(rows - reader.nulls(group, column), size, isInteger ? span : size);
  }
  return tokens;
}

/**
 * Adds the tokens of a row group's entries to a collector, from its columns: at least those that the lines have, and some
 * that only other entries of the same shape have. Values that repeat are hashed once.
 */
export class ColumnTokens {
  readonly #collector: TokenCollector;
  readonly #hasher = new TokenHasher();

  constructor(collector: TokenCollector) {
    this.#collector = collector;
  }

  /** @param chunk bytes of the columns */
  *add(reader: SegmentReader, group: number, chunk: ChunkSource): Generator<Pause, void> {
    const decode = (column: number) => reader.decode(group, column, chunk(group, column));
    const rows = reader.rowGroups[group]?.rows ?? 0;
    for (const [member, column] of ID_COLUMNS.entries()) {
      if (reader.nulls(group, column) === rows) continue;
      const ids = this.#collector.ids;
      yield* this.#texts(decode(column), (texts, at) => this.#id(ids, member, texts, at));
    }
    yield* this.#texts(decode(MESSAGE_COLUMN), (texts, at) => this.#addGrams(texts, at));
    for (const [index, column] of reader.properties.columns.entries()) {
      if (reader.nulls(group, FIRST_DATA_COLUMN + index) === rows) continue;
      yield* this.#data(column, decode(FIRST_DATA_COLUMN + index));
      yield null;
    }
    const last = reader.columns.length - 1;
    yield* this.#shapes(reader.texts(group, last - 1, chunk(group, last - 1)), decode(last));
  }

  *#texts(column: ColumnValues, visit: (texts: Texts, at: number) => void): Generator<Pause, void> {
    if (column.kind !== "texts" && column.kind !== "indexedTexts") return;
    const texts = textsOf(column);
    const validity = column.kind === "texts" ? column.validity : null;
    for (let at = 0; at < texts.length; at++) {
      if (validity?.[at] !== 0) visit(texts, at);
      if (at % PAUSE_VALUES === PAUSE_VALUES - 1) yield null;
    }
    releaseColumn(column);
  }

  #id(ids: TokenTable, member: number, texts: Texts, at: number): void {
    const [from, to] = [texts.startOf(at), texts.endOf(at)];
    const { a, b } = isAscii(texts.bytes, from, to)
      ? atId(this.#hasher, member).foldedAscii(texts.bytes, from, to).finish()
      : hashId(this.#hasher, member, foldCase(texts.at(at)));
    ids.add(a, b);
  }

  #addGrams(texts: Texts, at: number): void {
    const [from, to] = [texts.startOf(at), texts.endOf(at)];
    if (isAscii(texts.bytes, from, to)) this.#collector.grams.addAscii(texts.bytes, from, to);
    else this.#collector.grams.add(texts.at(at));
  }

  *#data({ path }: DataColumn, column: ColumnValues): Generator<Pause, void> {
    const { a, b } = atPath(this.#hasher, path);
    const scalars = this.#collector.scalars;
    switch (column.kind) {
      case "texts":
      case "indexedTexts": {
        const table = this.#collector.texts;
        yield* this.#texts(column, (texts, at) => {
          const [from, to] = [texts.startOf(at), texts.endOf(at)];
          const value = this.#hasher.reset(a, b).unit(MARK.value);
          if (isAscii(texts.bytes, from, to)) value.foldedAscii(texts.bytes, from, to);
          else value.text(foldCase(texts.at(at)));
          value.finish();
          table.add(value.a, value.b);
          this.#addGrams(texts, at);
        });
        return;
      }
      case "numbers":
      case "indexedNumbers": {
        const values = column.kind === "numbers" ? column.values : column.dictionary;
        const validity = column.kind === "numbers" ? column.validity : null;
        for (let at = 0; at < values.length; at++) {
          if (validity?.[at] === 0) continue;
          const token = hashValue(this.#hasher.reset(a, b), String(values[at] ?? 0));
          scalars.add(token.a, token.b);
          if (at % PAUSE_VALUES === PAUSE_VALUES - 1) yield null;
        }
        releaseColumn(column);
        return;
      }
      default:
        releaseColumn(column);
        for (const value of ["true", "false"]) {
          const token = hashValue(this.#hasher.reset(a, b), value);
          scalars.add(token.a, token.b);
        }
    }
  }

  /** Adds the paths of all shapes, nulls, and what is in `rest`. */
  *#shapes(shapes: TextColumn, rest: ColumnValues): Generator<Pause, void> {
    if (rest.kind !== "texts" && rest.kind !== "indexedTexts") return;
    const texts = textsOf(shapes);
    const howOf: (typeof WHOLE_LINE | typeof WHOLE_BYTES | null)[] = [];
    for (let at = 0; at < texts.length; at++) {
      if (shapes.kind === "texts" && shapes.validity?.[at] === 0) continue;
      const text = texts.at(at);
      howOf[at] = text === WHOLE_LINE || text === WHOLE_BYTES ? text : null;
      if (howOf[at] === null) this.#shape(texts.bytesAt(at));
    }
    const restTexts = textsOf(rest);
    const rows = shapes.kind === "texts" ? texts.length : shapes.indices.length;
    for (let row = 0, found = 0; row < rows; row++) {
      const at = indexAt(rest, row);
      if (at < 0) continue;
      const how = howOf[indexAt(shapes, row)] ?? null;
      this.#rest(restTexts.at(at), how);
      if (++found % 256 === 0) yield null;
    }
    releaseColumn(shapes);
    releaseColumn(rest);
  }

  #shape(bytes: Uint8Array): void {
    const template = parseTemplate(bytes);
    if (template === null) return;
    const table = this.#collector.texts;
    const scalars = this.#collector.scalars;
    for (const path of [...template.objects, ...template.slots.map((slot) => slot.path)]) {
      if (path.length === 0) continue;
      for (const name of path) this.#collector.grams.add(name);
      const any = hashValue(atPath(this.#hasher, path), undefined);
      table.add(any.a, any.b);
    }
    for (const { path, inRest } of template.slots) {
      if (inRest) continue;
      const none = hashValue(atPath(this.#hasher, path), null);
      scalars.add(none.a, none.b);
    }
  }

  #rest(text: string, how: typeof WHOLE_LINE | typeof WHOLE_BYTES | null): void {
    const line = how === WHOLE_BYTES ? Buffer.from(text, "base64").toString("utf8") : text;
    if (how !== null) {
      const entry = parseStoredLine(line);
      if (entry !== null) this.#collector.add(entry);
      return;
    }
    const members: unknown = JSON.parse(line);
    if (typeof members === "object" && members !== null) this.#collector.addData(members);
  }
}

function textsOf(column: TextColumn): Texts {
  return column.kind === "texts" ? column.texts : column.dictionary;
}

/** Returns the index of a row's string, or -1. */
function indexAt(column: TextColumn, row: number): number {
  if (column.kind === "indexedTexts") return column.indices[row] ?? -1;
  return column.validity?.[row] === 0 ? -1 : row;
}

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if ((bytes[at] ?? 0) >= ASCII_END) return false;
  return true;
}
