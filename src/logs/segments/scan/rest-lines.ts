import { BatchMatcher, type LinePlaces } from "../../query/batch-matcher.ts";
import type { WorkMeter } from "../../query/budget.ts";
import type { LogFilter } from "../../query/filter.ts";
import { freed } from "../../query/lines.ts";
import type { TextColumn } from "../decode/column-values.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import { WHOLE_BYTES } from "../template.ts";
import { hasValue, textsOf } from "./mark-rows.ts";

/** Bytes of lines that are tested at once. */
const PIECE_BYTES = 32 * 1024;
const LINE_BREAK = 10;

const HEAD = Buffer.from(
  '{"timestamp":"2000-01-01T00:00:00.000Z","level":"info","category":"","type":"","message":"","data":',
);
const END = Buffer.from("}");
const SEPARATOR = Buffer.of(LINE_BREAK);

/** Tests values in `rest` as a query tests lines: each `rest` becomes the `data` of a line. */
export class RestLines {
  readonly #matcher: BatchMatcher;

  /** @param filter conditions of `data` or a search alone, unless whole lines are tested */
  constructor(filter: LogFilter, meter: WorkMeter) {
    this.#matcher = new BatchMatcher(filter, meter);
  }

  /**
   * Marks the rows whose `rest` passes.
   * @param marks by row
   * @throws MalformedFile
   */
  *mark(rest: TextColumn, rows: Int32Array, marks: Uint8Array): Generator<void> {
    const damaged = () => {
      throw new MalformedFile("The rest of a line has another form.");
    };
    const lines = (row: number) => [HEAD, bytesOf(rest, row), END];
    yield* this.#steps(lines, rows, marks, damaged, null);
  }

  /**
   * Marks the rows whose line passes. Their lines are whole in `rest`.
   * @param shapes column of shapes
   * @param places of the rows
   */
  *markWhole(
    rest: TextColumn,
    shapes: TextColumn,
    rows: Int32Array,
    marks: Uint8Array,
    places: LinePlaces,
  ): Generator<void> {
    const lines = (row: number) => {
      const bytes = bytesOf(rest, row);
      const shape = textsOf(shapes).at(shapes.kind === "texts" ? row : (shapes.indices[row] ?? 0));
      return [shape === WHOLE_BYTES ? Buffer.from(bytes.toString("latin1"), "base64") : bytes];
    };
    yield* this.#steps(lines, rows, marks, () => undefined, places);
  }

  *#steps(
    lineOf: (row: number) => Buffer[],
    rows: Int32Array,
    marks: Uint8Array,
    damaged: () => void,
    places: LinePlaces | null,
  ): Generator<void> {
    const found = ({ index }: { index: number }) => {
      marks[rows[index] ?? 0] = 1;
    };
    yield* this.#matcher.steps(piecesOf(lineOf, rows), () => true, found, damaged, places);
  }
}

function* piecesOf(lineOf: (row: number) => Buffer[], rows: Int32Array): Generator<Uint8Array> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for (const row of rows) {
    const line = lineOf(row);
    // A line break would end the line before its end.
    if (line.some((part) => part.includes(LINE_BREAK))) throw new MalformedFile("A line has a line break.");
    if (parts.length > 0) parts.push(SEPARATOR);
    for (const part of line) {
      parts.push(part);
      bytes += part.length + 1;
    }
    if (bytes < PIECE_BYTES) continue;
    yield* freed(Buffer.concat(parts));
    parts = [];
    bytes = 0;
  }
  if (parts.length > 0) yield* freed(Buffer.concat(parts));
}

function bytesOf(rest: TextColumn, row: number): Buffer {
  if (!hasValue(rest, row)) throw new MalformedFile("The rest of a line is missing.");
  const texts = textsOf(rest);
  const at = rest.kind === "texts" ? row : (rest.indices[row] ?? 0);
  const { buffer, byteOffset, byteLength } = texts.bytesAt(at);
  return Buffer.from(buffer, byteOffset, byteLength);
}
