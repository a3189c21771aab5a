import { INGEST_LIMITS } from "../entry.ts";
import type { ParsedEntries } from "./build-batch.ts";
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

function parseDocument(text: string, bytes: Uint8Array): ParseResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return invalid(text.trim() === "" ? "The body is empty." : "The body is not valid JSON.");
  }
  if (Array.isArray(value)) return checked(value, bytes, () => elementSizes(bytes, 0));
  if (typeof value !== "object" || value === null) {
    return invalid("The body must be an entry, an array of entries or {logs: [...]}.");
  }
  if (!Object.hasOwn(value, "logs") || Object.hasOwn(value, "message")) {
    return checked([value], bytes, () => [utf8Length(text.trim())]);
  }
  // SAFETY: `logs` is an own member, as checked above.
  const { logs, ...others } = value as { logs: unknown };
  const [other] = Object.keys(others);
  if (other !== undefined)
    return invalid(`${other.slice(0, SHOWN_NAME)}: beside logs the body must have no other member.`);
  if (!Array.isArray(logs)) return invalid("logs must be an array of entries.");
  return checked(logs, bytes, () => elementSizes(bytes, 1));
}

function parseLines(text: string, bytes: Uint8Array): ParseResult {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length > INGEST_LIMITS.entries) return tooMany();
  return checked(lines.map(parseLine), bytes, () => lines.map((line) => utf8Length(line.trim())));
}

function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/** A line that is not JSON takes no other line with it: it stands as an error in its place. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return new SyntaxError("The line is not valid JSON.");
  }
}

function checked(values: readonly unknown[], bytes: Uint8Array, sizes: () => readonly number[]): ParseResult {
  if (values.length === 0) return invalid("The body holds no entry.");
  if (values.length > INGEST_LIMITS.entries) return tooMany();
  return { ok: true, entries: { values, bodyBytes: bytes.length, sizes } };
}

function invalid(message: string): ParseResult {
  return { ok: false, reason: "invalid", message };
}

function tooMany(): ParseResult {
  return { ok: false, reason: "too_many", message: `The body holds more than ${INGEST_LIMITS.entries} entries.` };
}
