import { CATEGORY_TYPES, INGEST_LIMITS } from "../../../../src/logs/entry.ts";
import { InexactInteger, parseExactly } from "../../../../src/logs/ingest/exact-json.ts";
import { LEVELS, type Level } from "../../model/types.ts";

/** Values of the form. */
export interface FormDraft {
  level: Level;
  category: string;
  type: string;
  message: string;
  /** A JSON object, or empty. */
  data: string;
}

/** A request body that is ready to send. */
export interface Outgoing {
  body: string;
  contentType: "application/json" | "application/x-ndjson";
  /** The entries in the body, not validated. */
  entries: readonly unknown[];
  shape: "entry" | "array" | "logs" | "ndjson";
}

export type FormErrors = Partial<Record<keyof FormDraft, string>>;
export type FormResult = { ok: true; outgoing: Outgoing } | { ok: false; errors: FormErrors };
export type RawResult = { ok: true; outgoing: Outgoing; warnings: Warning[] } | { ok: false; error: string };

/** A reason for which the service will reject an entry, found before sending. `index` is the entry's index. */
export interface Warning {
  index: number;
  message: string;
}

export const FIRST_FORM: FormDraft = {
  level: "warn",
  category: "http",
  type: "response",
  message: "GET /cart answered 503",
  data: '{ "status": 503, "durationMs": 1240 }',
};

/** Types of a built-in category; `null` if any type is allowed. */
export function typesOf(category: string): readonly string[] | null {
  // SAFETY: only a lookup; an unknown name gives `undefined`.
  return Object.hasOwn(CATEGORY_TYPES, category) ? CATEGORY_TYPES[category as keyof typeof CATEGORY_TYPES] : null;
}

export function formOutgoing({ level, category, type, message, data }: FormDraft): FormResult {
  const errors: FormErrors = {};
  if (message === "") errors.message = "Enter a message.";
  for (const [name, value] of [
    ["category", category],
    ["type", type],
  ] as const) {
    const length = [...value].length;
    if (length < 1 || length > INGEST_LIMITS.nameLength) errors[name] = `1 to ${INGEST_LIMITS.nameLength} characters.`;
  }
  const read = objectOf(data);
  if (!read.ok) errors.data = read.error;
  if (!read.ok || Object.keys(errors).length > 0) return { ok: false, errors };
  const entry = { level, category, type, message, ...(read.value === null ? {} : { data: read.value }) };
  const outgoing = { body: JSON.stringify(entry), contentType: "application/json", entries: [entry] } as const;
  return { ok: true, outgoing: { ...outgoing, shape: "entry" } };
}

/**
 * Digits from which an integer may be inexact as a number: 2^53 has 16. Only such texts take the slow, exact parser.
 */
const LONG_NUMBER = /\d{16}/;
const TOO_LARGE = "has an integer too large to be stored exactly. Write it as a string.";

/** Detects which JSON shape of the API the text has, or NDJSON. */
export function rawOutgoing(text: string): RawResult {
  const result = rawRead(text, JSON.parse);
  if (!result.ok || !LONG_NUMBER.test(text)) return result;
  const exact = rawRead(text, parseExactly);
  return exact.ok ? { ...result, warnings: exact.warnings } : result;
}

type Parse = (text: string) => unknown;

function rawRead(text: string, parse: Parse): RawResult {
  const body = text.trim();
  if (body === "") return { ok: false, error: 'Enter one entry, an array, {"logs": [...]} or one entry per line.' };
  const whole = parsed(body, parse);
  if (whole.ok) return shaped(body, whole.value);
  const lines = body.split("\n");
  const read = lines.map((line) => parsed(line, parse));
  const first = lines[0]?.trim() ?? "";
  // A first line that is valid JSON, followed by others, means NDJSON. Otherwise the text is invalid JSON.
  if (lines.length < 2 || !read[0]?.ok || first === "") return { ok: false, error: whole.error };
  const bad = read.findIndex((line, i) => !line.ok && lines[i]?.trim() !== "");
  if (bad >= 0) return { ok: false, error: `Line ${bad + 1}: ${read[bad]?.ok === false ? read[bad].error : ""}` };
  const entries = read.flatMap((line) => (line.ok ? [line.value] : []));
  return ready({ body, contentType: "application/x-ndjson", entries, shape: "ndjson" });
}

function shaped(body: string, value: unknown): RawResult {
  const contentType = "application/json";
  if (Array.isArray(value)) return ready({ body, contentType, entries: value, shape: "array" });
  if (!isObject(value)) return { ok: false, error: 'An entry must be a JSON object: { "message": "..." }' };
  if (Array.isArray(value.logs) && value.message === undefined) {
    return ready({ body, contentType, entries: value.logs, shape: "logs" });
  }
  return ready({ body, contentType, entries: [value], shape: "entry" });
}

function ready(outgoing: Outgoing): RawResult {
  if (outgoing.entries.length === 0) return { ok: false, error: "Enter at least one entry." };
  const warnings = outgoing.entries.flatMap((entry, index) => {
    const message = warningOf(entry);
    return message === null ? [] : [{ index, message }];
  });
  return { ok: true, outgoing, warnings };
}

/** Returns the most common reasons for which the service rejects an entry. Only the service decides. */
function warningOf(entry: unknown): string | null {
  if (!isObject(entry)) return "must be an object.";
  const { message, level, category, type, data } = entry;
  if (typeof message !== "string" || message === "") return "message is required.";
  if (level !== undefined && !LEVELS.some((each) => each === level))
    return `level must be one of ${LEVELS.join(", ")}.`;
  if (category !== undefined && typeof category !== "string") return "category must be a string.";
  const types = typeof category === "string" ? typesOf(category) : null;
  if (types && type !== undefined && !types.some((each) => each === type)) {
    return `type of ${category} must be one of ${types.join(", ")}.`;
  }
  if (data !== undefined && !isObject(data)) return "data must be an object.";
  return hasInexact(data) ? `data ${TOO_LARGE}` : null;
}

/** Whether a value read by `parseExactly` has an integer that lost digits. */
function hasInexact(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof InexactInteger || Object.values(value).some(hasInexact);
}

function objectOf(text: string): { ok: true; value: object | null } | { ok: false; error: string } {
  if (text.trim() === "") return { ok: true, value: null };
  const read = parsed(text, JSON.parse);
  if (!read.ok) return { ok: false, error: read.error };
  if (LONG_NUMBER.test(text) && hasInexact(parseExactly(text))) return { ok: false, error: `Data ${TOO_LARGE}` };
  return isObject(read.value)
    ? { ok: true, value: read.value }
    : { ok: false, error: 'Data must be a JSON object: { "status": 503 }' };
}

type Parsed = { ok: true; value: unknown } | { ok: false; error: string };

function parsed(text: string, parse: Parse): Parsed {
  try {
    return { ok: true, value: parse(text) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? `Invalid JSON. ${error.message}` : "Invalid JSON." };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
