import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { LEADING_COLUMNS, pathKey, TEXT_MEMBERS } from "../columns.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import {
  findRestValues,
  hasOwn,
  parseTemplate,
  type Template,
  type Token,
  tokensOf,
  WHOLE_BYTES,
  WHOLE_LINE,
} from "../template.ts";
import { type ColumnValues, type NumberColumn, releaseColumn, type TextColumn } from "./column-values.ts";
import type { RowChoice } from "./decode-chunk.ts";
import { LineWriter } from "./line-writer.ts";
import type { ChunkSource, SegmentReader } from "./segment-reader.ts";
import { hasValue, textAt, textsOf, writeText, writeValue } from "./write-values.ts";

const TIMESTAMP_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "timestamp");
const LEVEL_COLUMN = LEADING_COLUMNS.findIndex(({ name }) => name === "level");
/** Members that every line has. */
const REQUIRED_MEMBERS = 4;

const encoder = new TextEncoder();
const HEAD = encoder.encode('{"timestamp":"');
const QUOTE = encoder.encode('"');
const HEADS = TEXT_MEMBERS.map((name) => encoder.encode(`,"${name}":`));
const DATA_HEAD = encoder.encode(',"data":');
const OPEN = encoder.encode("{");
const COMMA = encoder.encode(",");
const END = encoder.encode("}");
const LINE_FEED = encoder.encode("\n");

/** A place of a line for a value of `data`, and the bytes before it. */
interface Place {
  before: Uint8Array;
  /** The decoded columns of its path; `null` if the value is in `rest`. */
  columns: readonly ColumnValues[] | null;
  isOptional: boolean;
}

interface LineShape {
  template: Template;
  places: readonly Place[];
  after: Uint8Array;
  /** The parts of `data` if some members are optional. */
  tokens: readonly Token[] | null;
}

/** A column without values. */
const NO_VALUES: ColumnValues = { kind: "booleans", values: new Int8Array(0) };

/** Returns a decoded column, `undefined` if no line takes a value from it. */
export type ColumnSource = (column: number) => ColumnValues | undefined;

/** Puts lines together from their columns as ingest stored them. */
export class LineJoiner {
  readonly #timestamps: NumberColumn;
  readonly #members: readonly TextColumn[];
  readonly #data: readonly ColumnValues[];
  readonly #paths: readonly string[];
  readonly #shapes: TextColumn;
  readonly #rest: TextColumn;
  readonly #rows: number;
  /** By index in the dictionary of shapes, or by text. */
  readonly #known = new Map<number | string, LineShape | typeof WHOLE_LINE | typeof WHOLE_BYTES>();
  readonly #writer = new LineWriter();
  readonly #ends = new Int32Array(1024);

  /**
   * @param rows of each column
   * @param source is asked for each of `columnsOfLines`
   */
  constructor(reader: SegmentReader, rows: number, source: ColumnSource) {
    const { columns } = reader.properties;
    this.#rows = rows;
    const values = (column: number) => source(column) ?? NO_VALUES;
    this.#timestamps = numbersOf(values(TIMESTAMP_COLUMN));
    this.#members = HEADS.map((_, member) => textsIn(values(LEVEL_COLUMN + member)));
    this.#paths = columns.map(({ path }) => pathKey(path));
    this.#data = columns.map((_, index) => values(FIRST_DATA_COLUMN + index));
    this.#shapes = textsIn(values(FIRST_DATA_COLUMN + columns.length));
    this.#rest = textsIn(values(FIRST_DATA_COLUMN + columns.length + 1));
  }

  /**
   * @param row of the columns; one of the chosen ones
   * @returns the line without its line break
   * @throws MalformedFile
   */
  line(row: number): Uint8Array {
    this.write(row);
    return this.take();
  }

  /**
   * Adds the line of a row to those that `take` returns, with a line break between two lines. Needs no memory for each line.
   * @returns bytes of the lines so far
   * @throws MalformedFile
   */
  write(row: number): number {
    const writer = this.#writer;
    if (writer.length > 0) writer.bytes(LINE_FEED);
    this.#writeLine(row);
    return writer.length;
  }

  /** Frees the memory for lines. The columns stay. */
  release(): void {
    this.#writer.release();
    detachBuffer(this.#ends);
  }

  /** Returns the lines in a buffer of their own. */
  take(): Uint8Array {
    return this.#writer.take();
  }

  #writeLine(row: number): void {
    if (!(row >= 0 && row < this.#rows)) throw new RangeError("The columns do not have the row.");
    const shape = this.#shapeOf(row);
    const writer = this.#writer;
    if (shape === WHOLE_LINE || shape === WHOLE_BYTES) {
      writer.bytes(this.#whole(row, shape));
      return;
    }
    writer.bytes(HEAD);
    writer.ascii(this.#timestamp(row));
    writer.bytes(QUOTE);
    for (const [member, column] of this.#members.entries()) {
      const at = textAt(column, row);
      if (at < 0 && member < REQUIRED_MEMBERS) throw new MalformedFile("A line lacks a member.");
      if (at < 0) continue;
      writer.bytes(HEADS[member] ?? QUOTE);
      writeText(writer, textsOf(column), at);
    }
    if (shape !== null) this.#writeData(row, shape);
    writer.bytes(END);
  }

  #writeData(row: number, shape: LineShape): void {
    const { template, places, after, tokens } = shape;
    const writer = this.#writer;
    let rest: Uint8Array = END;
    if (template.restPieces.length > 0) {
      rest = this.#restOf(row);
      if (!findRestValues(rest, template, this.#ends)) throw new MalformedFile("The rest of a line has another form.");
    }
    // The template of a line with own members has the name of `data`.
    writer.bytes(template.own > 0 ? COMMA : DATA_HEAD);
    let fromRest = 0;
    const write = (columns: Place["columns"]) => {
      if (columns === null) {
        const start = (this.#ends[fromRest - 1] ?? 0) + (template.restPieces[fromRest]?.length ?? 0);
        writer.bytes(rest, start, this.#ends[fromRest++]);
      } else writeValue(writer, columns, row);
    };
    if (tokens !== null) {
      if (template.own === 0) writer.bytes(OPEN);
      this.#writeMembers(row, tokens, places, write);
      if (template.own === 0) writer.bytes(END);
      return;
    }
    for (const { before, columns } of places) {
      writer.bytes(before);
      write(columns);
    }
    writer.bytes(after);
  }

  /** Writes what is in an object of which some members may be absent. */
  #writeMembers(
    row: number,
    tokens: readonly Token[],
    places: readonly Place[],
    write: (columns: Place["columns"]) => void,
  ): void {
    const writer = this.#writer;
    let isFirst = true;
    let member = 0;
    for (const token of tokens) {
      if (token.kind === "close") {
        writer.bytes(END);
        isFirst = false;
        continue;
      }
      const place = token.kind === "member" ? places[member++] : undefined;
      if (place?.isOptional && !place.columns?.some((column) => hasValue(column, row))) continue;
      if (!isFirst) writer.bytes(COMMA);
      writer.bytes(token.name);
      if (place === undefined) writer.bytes(OPEN);
      else write(place.columns);
      isFirst = place === undefined;
    }
  }

  #timestamp(row: number): string {
    const column = this.#timestamps;
    const time = column.kind === "numbers" ? column.values[row] : column.dictionary[column.indices[row] ?? -1];
    const date = new Date(time ?? Number.NaN);
    if (Number.isNaN(date.getTime())) throw new MalformedFile("A timestamp is out of range.");
    return date.toISOString();
  }

  #whole(row: number, how: typeof WHOLE_LINE | typeof WHOLE_BYTES): Uint8Array {
    const rest = this.#restOf(row);
    return how === WHOLE_LINE ? rest : Buffer.from(Buffer.from(rest).toString("latin1"), "base64");
  }

  #restOf(row: number): Uint8Array {
    const at = textAt(this.#rest, row);
    if (at < 0) throw new MalformedFile("The rest of a line is missing.");
    return textsOf(this.#rest).bytesAt(at);
  }

  /** @returns `null` if the line has no `data` */
  #shapeOf(row: number): LineShape | typeof WHOLE_LINE | typeof WHOLE_BYTES | null {
    const at = textAt(this.#shapes, row);
    if (at < 0) return null;
    const texts = textsOf(this.#shapes);
    const key = this.#shapes.kind === "indexedTexts" ? at : texts.at(at);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const shape = this.#parse(texts.at(at), texts.bytesAt(at));
    this.#known.set(key, shape);
    return shape;
  }

  #parse(text: string, bytes: Uint8Array): LineShape | typeof WHOLE_LINE | typeof WHOLE_BYTES {
    if (text === WHOLE_LINE || text === WHOLE_BYTES) return text;
    const template = parseTemplate(bytes);
    if (template === null || template.slots.length > this.#ends.length) throw new MalformedFile("A shape is damaged.");
    const tokens = template.slots.some(({ isOptional }) => isOptional) ? tokensOf(bytes) : null;
    const isOwn = hasOwn(bytes);
    // The mark and the outer braces are not in the line.
    let from = isOwn ? 2 : 0;
    const places = template.slots.map(({ key, inRest, isOptional, at }): Place => {
      const before = bytes.subarray(from, at);
      from = at + 1;
      if (inRest) return { before, columns: null, isOptional };
      return { before, columns: this.#data.filter((_, index) => this.#paths[index] === key), isOptional };
    });
    return { template, places, after: bytes.subarray(from, isOwn ? -1 : undefined), tokens };
  }
}

/** Puts the lines of a row group together. */
export class LineRestorer extends LineJoiner {
  readonly #decoded: readonly ColumnValues[];

  /**
   * Decodes the columns of the lines.
   * @param chosen rows that will be restored; `null` for all
   * @throws MalformedFile
   */
  constructor(reader: SegmentReader, group: number, source: ChunkSource, chosen: RowChoice = null) {
    const decoded: ColumnValues[] = [];
    super(reader, reader.rowGroups[group]?.rows ?? 0, (column) => {
      const values = reader.decode(group, column, source(group, column), chosen);
      decoded.push(values);
      return values;
    });
    this.#decoded = decoded;
  }

  /** Frees the columns. */
  override release(): void {
    super.release();
    for (const column of this.#decoded) releaseColumn(column);
  }
}

function textsIn(column: ColumnValues): TextColumn {
  if (column.kind === "texts" || column.kind === "indexedTexts") return column;
  throw new RangeError("The column has no strings.");
}

function numbersOf(column: ColumnValues): NumberColumn {
  if (column.kind === "numbers" || column.kind === "indexedNumbers") return column;
  throw new RangeError("The column has no numbers.");
}
