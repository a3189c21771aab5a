import {
  CATEGORY_TYPES,
  DEFAULT_CATEGORY,
  DEFAULT_LEVEL,
  DEFAULT_TYPE,
  type Entry,
  INGEST_LIMITS,
  LEVELS,
  type Level,
} from "../entry.ts";
import { InexactInteger, mayBeInexact } from "./exact-json.ts";
import { MaybeInexact, reject, SHOWN_NAME } from "./rejection.ts";
import { type Timestamp, TimestampReader } from "./timestamp.ts";

/**
 * Validates `data`: nesting of at most 32, and numbers that do not change when they are written again.
 * @param isExact whether the value comes from `parseExactly`, so that its large integers are exact
 * @returns the number of values, `value` included
 * @throws EntryRejected INVALID_DATA
 */
export function checkData(value: object, isExact: boolean, depth = 1): number {
  if (depth > INGEST_LIMITS.dataDepth) reject("INVALID_DATA", `data is nested deeper than ${INGEST_LIMITS.dataDepth}.`);
  let values = 1;
  if (Array.isArray(value)) {
    for (const item of value) values += checkValue(item, isExact, depth);
    return values;
  }
  // SAFETY: the value comes from JSON.parse, so it is a plain object.
  const members = value as Record<string, unknown>;
  for (const name in members) values += checkValue(members[name], isExact, depth);
  return values;
}

function checkValue(value: unknown, isExact: boolean, depth: number): number {
  if (typeof value === "object") {
    if (value instanceof InexactInteger) throw new MaybeInexact();
    return value === null ? 1 : checkData(value, isExact, depth + 1);
  }
  if (typeof value === "number") {
    if (!isExact && mayBeInexact(value)) throw new MaybeInexact();
    // `JSON.parse` reads 1e999 as Infinity, which would be stored as null.
    if (!Number.isFinite(value)) reject("INVALID_DATA", "data has a number too large to be kept.");
  }
  return 1;
}

/** Maximum age of an entry in any workspace. The workspace object checks its own retention, which may be shorter. */
export const MAX_ENTRY_AGE_MS = 365 * 24 * 60 * 60 * 1000;

const SEVERITY = new Map<unknown, number>(LEVELS.map((level, index) => [level, index]));
const DEFAULT_SEVERITY = LEVELS.indexOf(DEFAULT_LEVEL);
const BUILT_IN_TYPES = new Map<string, { first: string; all: ReadonlySet<string> }>(
  Object.entries(CATEGORY_TYPES).map(([category, types]) => [category, { first: types[0], all: new Set(types) }]),
);

/** A validated entry with the values that the batch's summary needs, so that nothing is parsed again. */
export interface ValidEntry {
  entry: Entry;
  /** Epoch milliseconds of `entry.timestamp`. */
  ms: number;
  /** 0..6. */
  severity: number;
  /** Number of values in `entry.data`, itself included. */
  values: number;
}

/**
 * Validates the entries of one request. The checks are written by hand, because zod's interpreter would cost more than
 * the rest of ingest. `entrySchema` documents the same rules; a test compares the verdicts of both.
 */
export class EntryValidator {
  readonly #now: number;
  readonly #isExact: boolean;
  readonly #receivedAt: Timestamp;
  readonly #timestamps = new TimestampReader();

  /**
   * @param now epoch milliseconds of the receipt: the default timestamp and the reference of the age limits
   * @param isExact whether values come from `parseExactly`
   */
  constructor(now: number, isExact = false) {
    this.#now = now;
    this.#isExact = isExact;
    this.#receivedAt = { ms: now, iso: new Date(now).toISOString() };
  }

  /** @throws EntryRejected with the reason that the caller receives */
  check(value: unknown): ValidEntry {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return reject("INVALID_ENTRY", "An entry must be a JSON object.");
    }
    // SAFETY: the value comes from JSON.parse, so it is a plain object.
    const sent = value as Record<string, unknown>;
    let known = 0;
    let members = 0;
    for (const name in sent) {
      members++;
      if (isEntryMember(name, sent)) known++;
    }
    const { message } = sent;
    if (typeof message !== "string" || message === "") {
      return reject("INVALID_MESSAGE", "message is required and must be a string that is not empty.");
    }
    const severity = sent.level === undefined ? DEFAULT_SEVERITY : SEVERITY.get(sent.level);
    if (severity === undefined) return reject("INVALID_LEVEL", `level must be one of ${LEVELS.join(", ")}.`);
    const category = checkName("category", sent.category, DEFAULT_CATEGORY);
    const type = checkType(category, sent.type);
    const time = this.#timestamp(sent.timestamp);
    const own = sent.data === undefined ? undefined : checkIsObject(sent.data);
    const data = known === members ? own : fold(sent, own);
    const values = data === undefined ? 0 : checkData(data, this.#isExact);
    return {
      entry: makeEntry(time.iso, LEVELS[severity] ?? DEFAULT_LEVEL, category, type, message, sent, data),
      ms: time.ms,
      severity,
      values,
    };
  }

  #timestamp(value: unknown): Timestamp {
    if (value === undefined) return this.#receivedAt;
    const time = this.#timestamps.read(value);
    if (time.ms > this.#now + INGEST_LIMITS.futureMs) {
      return reject("TIMESTAMP_IN_FUTURE", "timestamp is more than 24 hours ahead.");
    }
    if (time.ms < this.#now - MAX_ENTRY_AGE_MS)
      return reject("TIMESTAMP_TOO_OLD", "timestamp is older than any retention.");
    return time;
  }
}

/**
 * Creates an entry with members in the order of `ENTRY_MEMBERS`. All entries have one shape, which keeps
 * `JSON.stringify` on its fast path.
 */
function makeEntry(
  timestamp: string,
  level: Level,
  category: string,
  type: string,
  message: string,
  sent: Record<string, unknown>,
  data: Record<string, unknown> | undefined,
): Entry {
  const entry: Entry = { timestamp, level, category, type, message };
  if (sent.session !== undefined) entry.session = checkText("session", sent.session);
  if (sent.traceId !== undefined) entry.traceId = checkText("traceId", sent.traceId);
  if (sent.spanId !== undefined) entry.spanId = checkText("spanId", sent.spanId);
  if (isOwnText(sent.service)) entry.service = sent.service;
  if (isOwnText(sent.host)) entry.host = sent.host;
  if (data !== undefined) entry.data = data;
  return entry;
}

function isEntryMember(name: string, sent: Record<string, unknown>): boolean {
  switch (name) {
    case "message":
    case "level":
    case "category":
    case "type":
    case "timestamp":
    case "session":
    case "traceId":
    case "spanId":
    case "data":
      return true;
    case "service":
    case "host":
      return isOwnText(sent[name]);
    default:
      return false;
  }
}

/**
 * Whether a value can be an own member. Clients have always sent `service` and `host` of any form, which went into `data`:
 * other forms still do.
 */
export function isOwnText(value: unknown): value is string {
  return (
    typeof value === "string" && value !== "" && !isLongerThan(value, INGEST_LIMITS.ownLength) && value.isWellFormed()
  );
}

function checkText(name: string, value: unknown): string {
  return typeof value === "string" ? value : reject("INVALID_ENTRY", `${name} must be a string.`);
}

function checkName(name: "category" | "type", value: unknown, fallback: string): string {
  if (value === undefined) return fallback;
  if (
    typeof value !== "string" ||
    value === "" ||
    isLongerThan(value, INGEST_LIMITS.nameLength) ||
    !value.isWellFormed()
  ) {
    return reject("INVALID_TYPE", `${name} must be a string of 1 to ${INGEST_LIMITS.nameLength} characters.`);
  }
  return value;
}

/** Counts characters like JSON Schema and `entrySchema`: a character outside the basic plane is one, not two. */
function isLongerThan(text: string, length: number): boolean {
  return text.length > length && (text.length > 2 * length || [...text].length > length);
}

function checkType(category: string, value: unknown): string {
  const types = BUILT_IN_TYPES.get(category);
  if (types === undefined) return checkName("type", value, DEFAULT_TYPE);
  if (value === undefined) return types.first;
  if (typeof value === "string" && types.all.has(value)) return value;
  return reject("INVALID_TYPE", `type of category ${category} must be one of ${[...types.all].join(", ")}.`);
}

function checkIsObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return reject("INVALID_DATA", "data must be a JSON object.");
  }
  // SAFETY: the value comes from JSON.parse, so it is a plain object.
  return value as Record<string, unknown>;
}

/** Moves members without a defined meaning into `data`, so that no member of a client is lost. */
function fold(sent: Record<string, unknown>, own: Record<string, unknown> | undefined): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const name in own) define(data, name, own[name]);
  for (const name in sent) {
    if (isEntryMember(name, sent)) continue;
    if (own !== undefined && Object.hasOwn(own, name)) {
      return reject("MEMBER_CONFLICT", `${name.slice(0, SHOWN_NAME)} is both in the entry and in data.`);
    }
    define(data, name, sent[name]);
  }
  return data;
}

/** An assignment to `__proto__` would set the prototype and lose the member. A definition keeps it. */
export function define(target: Record<string, unknown>, name: string, value: unknown): void {
  if (name === "__proto__") {
    Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    target[name] = value;
  }
}
