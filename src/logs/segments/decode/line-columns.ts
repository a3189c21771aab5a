import { WORK, type WorkMeter } from "../../query/budget.ts";
import { LEADING_COLUMNS, pathKey, TEXT_MEMBERS } from "../columns.ts";
import { FIRST_DATA_COLUMN } from "../properties.ts";
import { parseTemplate, WHOLE_BYTES, WHOLE_LINE } from "../template.ts";
import type { TextColumn } from "./column-values.ts";
import type { SegmentReader } from "./segment-reader.ts";

/** The columns of which lines are put together. */

const columnNamed = (wanted: string): number => LEADING_COLUMNS.findIndex(({ name }) => name === wanted);
const TIMESTAMP_COLUMN = columnNamed("timestamp");
const LEVEL_COLUMN = columnNamed("level");

/** Returns the columns of which every line may have a value, except its time and shape. */
export function columnsOfMembers({ restColumn }: SegmentReader): number[] {
  return [...TEXT_MEMBERS.map((_, member) => LEVEL_COLUMN + member), restColumn];
}

/** Returns the columns of which any line may have a value. */
export function columnsOfLines(reader: SegmentReader): number[] {
  const data = reader.properties.columns.map((_, index) => FIRST_DATA_COLUMN + index);
  return [TIMESTAMP_COLUMN, ...columnsOfMembers(reader), ...data, reader.shapeColumn];
}

/** Returns the columns of `data` that lines with these shapes may have a value in. Yields when a pause is due. */
export function* columnsOfShapes(
  { properties }: SegmentReader,
  shapes: TextColumn,
  meter: WorkMeter,
): Generator<void, number[]> {
  const texts = shapes.kind === "texts" ? shapes.texts : shapes.dictionary;
  const used = shapes.kind === "texts" ? Array.from({ length: texts.length }, (_, at) => at) : new Set(shapes.indices);
  const keys = new Set<string>();
  const known = new Set<string>(["", WHOLE_LINE, WHOLE_BYTES]);
  for (const at of used) {
    const text = at < 0 ? "" : texts.at(at);
    if (known.has(text)) continue;
    known.add(text);
    // The joiner of the lines parses it, too.
    meter.add(WORK.text + 2 * text.length * WORK.shapeByte);
    if (meter.isDue) yield;
    for (const { key, inRest } of parseTemplate(texts.bytesAt(at))?.slots ?? []) if (!inRest) keys.add(key);
  }
  const columns = properties.columns.map(({ path }, index) => ({
    key: pathKey(path),
    column: FIRST_DATA_COLUMN + index,
  }));
  return columns.filter(({ key }) => keys.has(key)).map(({ column }) => column);
}
