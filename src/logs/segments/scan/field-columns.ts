import { detachBuffer } from "../../../platform/isolate-memory.ts";
import { TYPE_BITS } from "../../aggregate/aggregator.ts";
import type { Field, OwnField } from "../../aggregate/fields.ts";
import { logId } from "../../entry-view.ts";
import { PatternTexts } from "../../search/pattern-texts.ts";
import { FIRST_MEMBER_COLUMN, LEADING_COLUMNS, TEXT_MEMBERS } from "../columns.ts";
import { Texts } from "../decode/column-values.ts";
import type { SegmentReader } from "../decode/segment-reader.ts";
import { MalformedFile } from "../parquet/thrift.ts";
import {
  addColumn,
  constantCodes,
  FieldCodes,
  IN_LINE,
  isPathOrLine,
  levelCodes,
  MISSING,
  numberCodes,
  optionalPath,
  pathOrLine,
  severityOf,
  textCodes,
} from "./field-codes.ts";
import { jsonTextAt } from "./json-text.ts";
import { mayHaveWholeLines, type OpenGroup } from "./open-group.ts";
import type { Shapes } from "./shapes.ts";

/** How the values of one field are read in one row group. */
export interface FieldPlan {
  columns: readonly number[];
  /** Whether the shapes tell where the values are. */
  needsShapes: boolean;
  /**
   * @param rows chosen
   * @param resolved by chosen row; see `resolvedPaths`. `null` if the shapes are not needed
   * @throws MalformedFile
   */
  read(group: OpenGroup, rows: Int32Array, resolved: Int32Array | null): FieldCodes;
}

const leading = (name: string) => LEADING_COLUMNS.findIndex((column) => column.name === name);
const [SEQ_COLUMN, TIME_COLUMN, RECEIVED_COLUMN] = [leading("seq"), leading("timestamp"), leading("received_at")];
const MEMBERS: Partial<Record<OwnField, (typeof TEXT_MEMBERS)[number]>> = {
  level: "level",
  category: "category",
  type: "type",
  message: "message",
  pattern: "message",
  session: "session",
  trace: "traceId",
  span: "spanId",
};

const timeText = (timestamp: number): string => {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) throw new MalformedFile("A timestamp is out of range.");
  return `"${date.toISOString()}"`;
};

/**
 * Returns for each of the rows which path of a field counts: its index, `optionalPath` or `pathOrLine` of it, `MISSING`,
 * or `IN_LINE` if only the line can tell.
 * @param firstPath index of the field's first path in the cache of shapes
 */
export function resolvedPaths(shapes: Shapes, { paths }: Field, firstPath: number, rows: Int32Array): Int32Array {
  const byShape = shapes.map(({ template, places }) => {
    if (template === null) return IN_LINE;
    for (let path = 0; path < paths.length; path++) {
      const place = places[firstPath + path];
      if (place === "column") return path;
      if (place === "optional") {
        // Without a value in its columns, a later path counts, or an object at an earlier one.
        const isOnly = paths.every((_, other) => other === path || places[firstPath + other] === "absent");
        return isOnly ? optionalPath(path) : pathOrLine(path);
      }
      if (place === "rest") return IN_LINE;
    }
    return paths.some((_, path) => places[firstPath + path] === "object") ? IN_LINE : MISSING;
  });
  return rows.map((row) => byShape[shapes.indices[row] ?? -1] ?? MISSING);
}

/** @param patterns of the messages that the query has met */
export function planField(
  reader: SegmentReader,
  group: number,
  field: Field,
  patterns = new PatternTexts(),
): FieldPlan {
  const { own } = field;
  const member = own === null ? undefined : MEMBERS[own];
  if (member !== undefined) {
    const column = FIRST_MEMBER_COLUMN + TEXT_MEMBERS.indexOf(member);
    return own === "pattern"
      ? patternPlan(reader, group, column, patterns)
      : memberPlan(reader, group, column, own === "level");
  }
  switch (own) {
    case null:
      return dataPlan(reader, group, field);
    case "time":
      return numberPlan(TIME_COLUMN, TYPE_BITS.string, timeText);
    case "received":
      return numberPlan(RECEIVED_COLUMN, TYPE_BITS.string, timeText);
    case "seq":
      return numberPlan(SEQ_COLUMN, TYPE_BITS.number, String);
    case "id": {
      const { projectId } = reader.properties;
      const plan = numberPlan(SEQ_COLUMN, TYPE_BITS.string, (seq) => `"${logId(projectId, seq)}"`);
      return { ...plan, read: (opened, rows) => withoutNumbers(plan.read(opened, rows, null)) };
    }
    default: {
      const codes = () => constantCodes(`"${reader.properties.projectId}"`, TYPE_BITS.string);
      return { columns: [], needsShapes: false, read: codes };
    }
  }
}

function withoutNumbers(codes: FieldCodes): FieldCodes {
  codes.numbers = null;
  // Two projects have equal numbers, but no equal ids.
  codes.values = null;
  return codes;
}

function numberPlan(column: number, kind: number, textOf: (value: number) => string): FieldPlan {
  return {
    columns: [column],
    needsShapes: false,
    read: (group, rows) => numberCodes(group.numbers(column, rows), rows, kind, textOf),
  };
}

function memberPlan(reader: SegmentReader, group: number, column: number, isLevel: boolean): FieldPlan {
  // A line that is whole may have half of a surrogate pair, which no column has.
  const needsShapes = mayHaveWholeLines(reader, group);
  const constant = needsShapes ? null : constantMember(reader, group, column, isLevel);
  if (constant !== null) return { columns: [], needsShapes, read: constant };
  return {
    columns: [column],
    needsShapes,
    read(opened, rows, resolved) {
      const texts = opened.texts(column, rows);
      const codes = isLevel ? levelCodes(texts, rows) : textCodes(texts, rows, jsonTextAt);
      return resolved === null ? codes : markLines(codes, resolved);
    },
  };
}

/** @param column of the messages */
function patternPlan(reader: SegmentReader, group: number, column: number, patterns: PatternTexts): FieldPlan {
  return {
    columns: [column],
    needsShapes: mayHaveWholeLines(reader, group),
    read(opened, rows, resolved) {
      const texts = opened.texts(column, rows);
      const textOf = (own: Texts, index: number) => {
        const pattern = patterns.ofBytes(own.bytes, own.startOf(index), own.endOf(index));
        opened.meter.add(patterns.takeWork());
        return pattern;
      };
      const codes = textCodes(texts, rows, textOf);
      if (texts.kind === "texts") codeKnown(codes, texts.texts, rows, patterns);
      // A dictionary may have more strings than these rows need.
      else if (texts.dictionary.length <= rows.length) codeKnown(codes, texts.dictionary, null, patterns);
      opened.meter.add(patterns.takeWork());
      // Many messages have one pattern, so their bytes tell little about the group.
      codes.values = null;
      return resolved === null ? codes : markLines(codes, resolved);
    },
  };
}

/**
 * Gives rows whose messages are remembered the codes of these messages. The patterns of others are found when they are needed.
 * @param rows index of the text by code; `null`: the code
 */
function codeKnown(codes: FieldCodes, texts: Texts, rows: Int32Array | null, patterns: PatternTexts): void {
  const own = codes.codes;
  if (own === null || patterns.size === 0) return;
  const recoded = new Int32Array(codes.count);
  const first = codes.addRange(patterns.size, TYPE_BITS.string, null, (code) => patterns.at(code));
  for (let code = 0; code < recoded.length; code++) {
    const text = rows === null ? code : (rows[code] ?? 0);
    const known = patterns.numberOf(texts.bytes, texts.startOf(text), texts.endOf(text));
    recoded[code] = known < 0 ? code : first + known;
  }
  codes.isByRow = false;
  // The codes are of this field alone, and freed with its column.
  for (let at = 0; at < own.length; at++) own[at] = recoded[own[at] ?? MISSING] ?? MISSING;
  detachBuffer(recoded);
}

/** Returns the value that statistics give to all rows. */
function constantMember(
  reader: SegmentReader,
  group: number,
  column: number,
  isLevel: boolean,
): (() => FieldCodes) | null {
  const range = reader.textRange(group, column);
  if (range === null || reader.nulls(group, column) > 0 || Buffer.compare(range.min, range.max) !== 0) return null;
  const texts = new Texts(range.min, Int32Array.of(0, range.min.length));
  const text = jsonTextAt(texts, 0);
  const severity = isLevel ? severityOf(texts.at(0)) : Number.NaN;
  if (severity < 0) throw new MalformedFile("An entry has no level.");
  return () => constantCodes(text, TYPE_BITS.string, severity);
}

function dataPlan(reader: SegmentReader, group: number, { paths }: Field): FieldPlan {
  const rows = reader.rowGroups[group]?.rows ?? 0;
  const columns = paths.map((path) => reader.columnsOf(path).map(({ index }) => index));
  const filled = columns.map((own) => own.filter((index) => reader.nulls(group, index) < rows));
  const first = filled[0] ?? [];
  const values = first.reduce((sum, index) => sum + rows - reader.nulls(group, index), 0);
  if (values === rows) {
    return {
      columns: first,
      needsShapes: false,
      read(opened, chosen) {
        const codes = new FieldCodes(new Int32Array(chosen.length).fill(MISSING));
        for (const index of first) addColumn(codes, opened.decode(index, chosen), chosen);
        return codes;
      },
    };
  }
  return {
    columns: filled.flat(),
    needsShapes: true,
    read(opened, chosen, resolved) {
      const codes = new FieldCodes(new Int32Array(chosen.length).fill(MISSING));
      for (const [path, own] of filled.entries()) {
        for (const index of own) addColumn(codes, opened.decode(index, chosen), chosen, resolved, path);
      }
      return resolved === null ? codes : markNulls(codes, resolved);
    },
  };
}

/** A place in a column in which no column has a value is null. */
function markNulls(codes: FieldCodes, resolved: Int32Array): FieldCodes {
  const own = codes.codes;
  codes.isByRow = false;
  if (own === null) return codes;
  let first = -1;
  for (let at = 0; at < own.length; at++) {
    const path = resolved[at] ?? MISSING;
    if (path === IN_LINE) own[at] = IN_LINE;
    else if (own[at] !== MISSING) continue;
    else if (isPathOrLine(path)) own[at] = IN_LINE;
    else if (path >= 0) {
      if (first < 0) first = codes.addRange(1, TYPE_BITS.null, null, () => "null");
      own[at] = first;
    }
  }
  return codes;
}

function markLines(codes: FieldCodes, resolved: Int32Array): FieldCodes {
  const own = codes.codes;
  codes.isByRow = false;
  if (own !== null) for (let at = 0; at < own.length; at++) if (resolved[at] === IN_LINE) own[at] = IN_LINE;
  return codes;
}
