import { INGEST_LIMITS } from "../entry.ts";
import type { ParsedEntries } from "./build-batch.ts";
import { parseExactly } from "./exact-json.ts";
import { SHOWN_NAME } from "./rejection.ts";
import { elementSizes } from "./spans.ts";

/** The forms a body may have; the media type decides between the first and the last. */
export type IngestMediaType = "application/json" | "application/x-ndjson";

export type ParseResult =
  | { ok: true; entries: ParsedEntries }
  | { ok: false; reason: "invalid" | "too_many"; message: string };

/** Takes a body apart into its entries: one entry, an array, `{"logs": [...]}`, or NDJSON. Checks none of them. */
export function parseEntries(bytes: Uint8Array, mediaType: IngestMediaType): ParseResult {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return invalid("The body is not valid UTF-8.");
  }
  return mediaType === "application/x-ndjson" ? parseLines(text, bytes) : parseDocument(text, bytes);
}

type Parse = (text: string) => unknown;

function parseDocument(text: string, bytes: Uint8Array): ParseResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(text.trim() === "" ? "The body is empty." : "The body is not valid JSON.");
  }
  const found = entriesOf(value, text, bytes);
  if (typeof found === "string") return invalid(found);
  const exactValues = () => {
    const exact = entriesOf(parseExactly(text), text, bytes);
    return typeof exact === "string" ? [] : exact.values;
  };
  return checked({ ...found, exactValues, bodyBytes: bytes.length });
}

/** The entries of a document; a sentence where it holds none. */
function entriesOf(value: unknown, text: string, bytes: Uint8Array): Pick<ParsedEntries, "values" | "sizes"> | string {
  if (Array.isArray(value)) return { values: value, sizes: () => elementSizes(bytes, 0) };
  if (typeof value !== "object" || value === null) {
    return "The body must be an entry, an array of entries or {logs: [...]}.";
  }
  if (!Object.hasOwn(value, "logs") || Object.hasOwn(value, "message")) {
    return { values: [value], sizes: () => [utf8Length(text.trim())] };
  }
  // SAFETY: `logs` is an own member, as checked above.
  const { logs, ...others } = value as { logs: unknown };
  const [other] = Object.keys(others);
  if (other !== undefined) return `${other.slice(0, SHOWN_NAME)}: beside logs the body must have no other member.`;
  if (!Array.isArray(logs)) return "logs must be an array of entries.";
  return { values: logs, sizes: () => elementSizes(bytes, 1) };
}

function parseLines(text: string, bytes: Uint8Array): ParseResult {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > INGEST_LIMITS.entries) return tooMany();
  return checked({
    values: lines.map((line) => parseLine(line, JSON.parse)),
    exactValues: () => lines.map((line) => parseLine(line, parseExactly)),
    bodyBytes: bytes.length,
    sizes: () => lines.map((line) => utf8Length(line.trim())),
  });
}

function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** A line that is not JSON takes no other line with it: it stands as an error in its place. */
function parseLine(line: string, parse: Parse): unknown {
  try {
    return parse(line);
  } catch {
    return new SyntaxError("The line is not valid JSON.");
  }
}

function checked(entries: ParsedEntries): ParseResult {
  if (entries.values.length === 0) return invalid("The body holds no entry.");
  return entries.values.length > INGEST_LIMITS.entries ? tooMany() : { ok: true, entries };
}

function invalid(message: string): ParseResult {
  return { ok: false, reason: "invalid", message };
}

function tooMany(): ParseResult {
  return { ok: false, reason: "too_many", message: `The body holds more than ${INGEST_LIMITS.entries} entries.` };
}
