import { EntryLabels } from "../../logql/labels.ts";
import { parseJsonLine, parseLogfmtLine } from "../../logql/parsers.ts";
import { bytesOf, durationOf, floatOf } from "../../logql/units.ts";
import type { LogResult } from "./run-logs.ts";

/** A field that lines have, as Grafana lists it. */
export interface DetectedField {
  label: string;
  type: "string" | "int" | "float" | "boolean" | "duration" | "bytes";
  /** Number of different values in the sample. */
  cardinality: number;
  /** Parsers that find it; `null` for structured metadata. */
  parsers: string[] | null;
}

/** Values of one field that are counted apart. */
const MAX_VALUES = 1000;

interface Found {
  values: Set<string>;
  types: Set<DetectedField["type"]>;
  parsers: Set<string>;
}

/** Finds the fields of entries: members of lines that are JSON or logfmt, labels that stages set, and structured metadata. */
export function detectFields(entries: readonly LogResult[], limit: number): DetectedField[] {
  return [...foundIn(entries)].slice(0, limit).map(([label, { values, types, parsers }]) => {
    const [only] = types;
    const type = only !== undefined && types.size === 1 ? only : "string";
    return { label, type, cardinality: values.size, parsers: parsers.size === 0 ? null : [...parsers] };
  });
}

/** Returns the different values of a field, in order. */
export function valuesOfField(entries: readonly LogResult[], label: string): string[] {
  return [...(foundIn(entries).get(label)?.values ?? [])].sort();
}

function foundIn(entries: readonly LogResult[]): Map<string, Found> {
  const fields = new Map<string, Found>();
  for (const { line, labels } of entries) {
    for (const [name, value] of labels.metadata) note(fields, name, value, null);
    for (const [name, value] of labels.parsed) if (!name.startsWith("__")) note(fields, name, value, null);
    const parsed = new EntryLabels(labels.stream, labels.metadata);
    const parser = line.startsWith("{") ? "json" : "logfmt";
    if (parser === "json") parseJsonLine(line, parsed);
    else if (/\S=/.test(line)) parseLogfmtLine(line, { isStrict: false, keepsEmpty: false, extractions: [] }, parsed);
    for (const [name, value] of parsed.categorized().parsed)
      if (!name.startsWith("__")) note(fields, name, value, parser);
  }
  return fields;
}

function note(fields: Map<string, Found>, name: string, value: string, parser: string | null): void {
  const found = fields.get(name) ?? { values: new Set(), types: new Set(), parsers: new Set() };
  fields.set(name, found);
  found.types.add(typeOf(value));
  if (parser !== null) found.parsers.add(parser);
  if (found.values.size < MAX_VALUES) found.values.add(value);
}

function typeOf(text: string): DetectedField["type"] {
  if (/^-?[0-9]+$/.test(text)) return "int";
  if (text === "true" || text === "false") return "boolean";
  if (floatOf(text) !== null && /[0-9]/.test(text)) return "float";
  if (durationOf(text, false) !== null) return "duration";
  return bytesOf(text) !== null ? "bytes" : "string";
}
