import { someAt } from "../../../../../src/logs/search/data-values.ts";
import type { Field } from "../../../../../src/query-language/syntax.ts";
import type { LogEntry } from "../../../model/types.ts";
import { fieldNamed } from "../view/query-terms.ts";
import { withoutColours } from "./inline-fields.ts";
import { ownName } from "./own-name.ts";
import { shortNumber } from "./short-number.ts";

/** Characters of a value in a cell. */
const LONGEST = 200;

/** A field of an entry in a cell. Without the field all texts are empty. */
export interface CellValue {
  /** As the cell shows it. */
  text: string;
  exact: string;
  isNumber: boolean;
}

export type ReadCell = (entry: LogEntry) => CellValue;

/** @param name a field as queries name it */
export function cellReader(name: string): ReadCell {
  const field = fieldNamed(name);
  return (entry) => cellValue(fieldValue(entry, field));
}

function fieldValue(entry: LogEntry, field: Field): unknown {
  if (field.kind === "column") return undefined;
  if (field.kind === "own") {
    const { timestamp, receivedAt, traceId, spanId, projectId } = entry;
    const named: Record<string, unknown> = {
      ...entry,
      time: timestamp,
      received: receivedAt,
      trace: traceId,
      span: spanId,
      project: projectId,
      service: ownName(entry, "service"),
      host: ownName(entry, "host"),
    };
    return named[field.name];
  }
  let found: unknown;
  someAt(entry.data, field.path, (value) => {
    found = value;
    return true;
  });
  return found;
}

function cellValue(value: unknown): CellValue {
  if (typeof value === "number") return { text: shortNumber(value), exact: String(value), isNumber: true };
  const text = cellText(value);
  return { text, exact: text, isNumber: false };
}

function cellText(value: unknown): string {
  if (value === undefined) return "";
  const text = typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
  const plain = withoutColours(text);
  return plain.length > LONGEST ? `${plain.slice(0, LONGEST)}…` : plain;
}
