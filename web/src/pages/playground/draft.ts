import { CATEGORY_TYPES, INGEST_LIMITS } from "../../../../src/logs/entry.ts";
import { InexactInteger, parseExactly } from "../../../../src/logs/ingest/exact-json.ts";
import { LEVELS, type Level } from "../../model/types.ts";

/** What the form holds. */
export interface FormDraft {
  level: Level;
  category: string;
  type: string;
  message: string;
  /** A JSON object, or nothing. */
  data: string;
}

/** What is ready to go out. */
export interface Outgoing {
  body: string;
  contentType: "application/json" | "application/x-ndjson";
  /** The entries in it, whatever they are worth. */
  entries: readonly unknown[];
  shape: "entry" | "array" | "logs" | "ndjson";
}

export type FormErrors = Partial<Record<keyof FormDraft, string>>;
export type FormResult = { ok: true; outgoing: Outgoing } | { ok: false; errors: FormErrors };
export type RawResult = { ok: true; outgoing: Outgoing; doubts: Doubt[] } | { ok: false; error: string };

/** Something that the service will not take, seen before it is sent. `index` is the entry's place. */
export interface Doubt {
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

/** Types of a built-in category; null where any may be given. */
export function typesOf(category: string): readonly string[] | null {
  // SAFETY: only looked up; a name that is none gives undefined.
  return Object.hasOwn(CATEGORY_TYPES, category) ? CATEGORY_TYPES[category as keyof typeof CATEGORY_TYPES] : null;
}

export function formOutgoing({ level, category, type, message, data }: FormDraft): FormResult {
  const errors: FormErrors = {};
  if (message === "") errors.message = "An entry needs a message.";
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

/** As many digits as an integer has that a number may not hold: 2^53 has 16. The slow look at digits is for these alone. */
const LONG_NUMBER = /\d{16}/;
const TOO_LARGE = "has an integer too large to be kept exactly. Write it as a text, in quotes.";

/** JSON of any of the shapes that the service takes, or NDJSON; which of them, the text itself says. */
export function rawOutgoing(text: string): RawResult {
  const result = rawRead(text, JSON.parse);
  if (!result.ok || !LONG_NUMBER.test(text)) return result;
  const exact = rawRead(text, parseExactly);
  return exact.ok ? { ...result, doubts: exact.doubts } : result;
}

type Parse = (text: string) => unknown;

function rawRead(text: string, parse: Parse): RawResult {
  const body = text.trim();
  if (body === "") return { ok: false, error: 'Write one entry, an array of them, {"logs": [...]}, or one a line.' };
  const whole = parsed(body, parse);
  if (whole.ok) return shaped(body, whole.value);
  const lines = body.split("\n");
  const read = lines.map((line) => parsed(line, parse));
  const first = lines[0]?.trim() ?? "";
  // One line that is JSON by itself, with others below it, is meant to be NDJSON; anything else is JSON gone wrong.
  if (lines.length < 2 || !read[0]?.ok || first === "") return { ok: false, error: whole.error };
  const bad = read.findIndex((line, i) => !line.ok && lines[i]?.trim() !== "");
  if (bad >= 0) return { ok: false, error: `Line ${bad + 1}: ${read[bad]?.ok === false ? read[bad].error : ""}` };
  const entries = read.flatMap((line) => (line.ok ? [line.value] : []));
  return ready({ body, contentType: "application/x-ndjson", entries, shape: "ndjson" });
}

function shaped(body: string, value: unknown): RawResult {
  const contentType = "application/json";
  if (Array.isArray(value)) return ready({ body, contentType, entries: value, shape: "array" });
  if (!isObject(value)) return { ok: false, error: 'An entry is a JSON object: { "message": "..." }' };
  if (Array.isArray(value.logs) && value.message === undefined) {
    return ready({ body, contentType, entries: value.logs, shape: "logs" });
  }
  return ready({ body, contentType, entries: [value], shape: "entry" });
}

function ready(outgoing: Outgoing): RawResult {
  if (outgoing.entries.length === 0) return { ok: false, error: "There is no entry in it." };
  const doubts = outgoing.entries.flatMap((entry, index) => {
    const message = doubtOf(entry);
    return message === null ? [] : [{ index, message }];
  });
  return { ok: true, outgoing, doubts };
}

/** The most common reasons for which the service refuses an entry. It has the last word. */
function doubtOf(entry: unknown): string | null {
  if (!isObject(entry)) return "is no object.";
  const { message, level, category, type, data } = entry;
  if (typeof message !== "string" || message === "") return "needs a message.";
  if (level !== undefined && !LEVELS.some((each) => each === level)) return `level is one of ${LEVELS.join(", ")}.`;
  if (category !== undefined && typeof category !== "string") return "category is a text.";
  const types = typeof category === "string" ? typesOf(category) : null;
  if (types && type !== undefined && !types.some((each) => each === type)) {
    return `type of ${category} is one of ${types.join(", ")}.`;
  }
  if (data !== undefined && !isObject(data)) return "data is an object.";
  return hasInexact(data) ? `data ${TOO_LARGE}` : null;
}

/** Whether an integer in it has lost digits; of what `parseExactly` read. */
function hasInexact(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof InexactInteger || Object.values(value).some(hasInexact);
}

function objectOf(text: string): { ok: true; value: object | null } | { ok: false; error: string } {
  if (text.trim() === "") return { ok: true, value: null };
  const read = parsed(text, JSON.parse);
  if (!read.ok) return { ok: false, error: read.error };
  if (LONG_NUMBER.test(text) && hasInexact(parseExactly(text))) return { ok: false, error: `It ${TOO_LARGE}` };
  return isObject(read.value)
    ? { ok: true, value: read.value }
    : { ok: false, error: 'Data is a JSON object: { "status": 503 }' };
}

type Parsed = { ok: true; value: unknown } | { ok: false; error: string };

function parsed(text: string, parse: Parse): Parsed {
  try {
    return { ok: true, value: parse(text) };
  } catch (error) {
    return { ok: false, error: error instanceof Error ? `This is no JSON. ${error.message}` : "This is no JSON." };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
