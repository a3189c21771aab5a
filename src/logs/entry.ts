/** Levels by severity: the index is the severity, `trace` 0 to `fatal` 6. */
export const LEVELS = ["trace", "debug", "log", "info", "warn", "error", "fatal"] as const;
export type Level = (typeof LEVELS)[number];
export const DEFAULT_LEVEL: Level = "info";

/** The types of each built-in category. The first one is the category's default. */
export const CATEGORY_TYPES = {
  ai: ["llm", "interaction", "step", "action", "response", "summary", "embedding", "tool-call"],
  http: ["request", "response", "redirect"],
  system: ["startup", "shutdown", "error", "debug", "info", "warn"],
  database: ["query", "transaction", "migration", "slow-query", "connection"],
  auth: ["login", "logout", "token-refresh", "permission-denied", "registration"],
  queue: ["enqueue", "dequeue", "process", "retry", "dead-letter"],
  cache: ["hit", "miss", "set", "evict", "invalidate"],
} as const;

export type BuiltInCategory = keyof typeof CATEGORY_TYPES;
/** In the order of the category mask's bits. The bit after the last is for `custom` and categories that are not built in. */
// SAFETY: `Object.keys` of a literal gives exactly its keys.
export const BUILT_IN_CATEGORIES = Object.keys(CATEGORY_TYPES) as BuiltInCategory[];
export const OTHER_CATEGORY_BIT = BUILT_IN_CATEGORIES.length;
export const DEFAULT_CATEGORY = "custom";
/** The default type of `custom` and of any category that is not built in. */
export const DEFAULT_TYPE = "log";

/** Members of an entry with a defined meaning. Any other member is moved into `data`. */
export const ENTRY_MEMBERS = [
  "timestamp",
  "level",
  "category",
  "type",
  "message",
  "session",
  "traceId",
  "spanId",
  "service",
  "host",
  "data",
] as const;

/**
 * Own members that were members of `data` before they had a place of their own. Whatever reads `data` finds them there,
 * too; see `own-members.ts`. In the order of a line.
 */
export const OWN_MEMBERS = ["service", "host"] as const;
export type OwnMember = (typeof OWN_MEMBERS)[number];

/** An entry as stored, with defaults and normalized times, members in the order of `ENTRY_MEMBERS`. */
export interface Entry {
  /** ISO 8601 UTC with milliseconds: always 24 characters, so lines can be compared by time without parsing. */
  timestamp: string;
  level: Level;
  category: string;
  type: string;
  message: string;
  session?: string;
  traceId?: string;
  spanId?: string;
  /** The program that wrote the entry, 1 to `INGEST_LIMITS.ownLength` characters. */
  service?: string;
  /** The machine on which it ran, likewise. */
  host?: string;
  data?: Record<string, unknown>;
}

/** An entry as a query returns it. */
export interface StoredEntry extends Entry {
  id: string;
  seq: number;
  projectId: string;
  /** Time at which the service received the entry, ISO 8601 UTC with milliseconds. */
  receivedAt: string;
}

/** Returns the bit of a level in a level mask. */
export function levelBit(level: Level): number {
  return 1 << LEVELS.indexOf(level);
}

/** Returns the bit of a category in a category mask. */
export function categoryBit(category: string): number {
  // SAFETY: `indexOf` only compares; a category that is not built in returns -1.
  const index = BUILT_IN_CATEGORIES.indexOf(category as BuiltInCategory);
  return 1 << (index < 0 ? OTHER_CATEGORY_BIT : index);
}

/** Limits of ingest, each from the HTTP contract. Sizes are bytes of JSON as sent. */
export const INGEST_LIMITS = {
  /** Bytes of a JSON body after decompression. */
  bodyBytes: 5 * 1024 * 1024,
  /** Entries in a JSON body. */
  entries: 1000,
  /** Bytes of a body of lines (NDJSON) after decompression. It is read while it arrives and never held whole. */
  linesBodyBytes: 20 * 1024 * 1024,
  /** Entries in a body of lines. */
  linesEntries: 20_000,
  /** Bytes of one entry. */
  entryBytes: 256 * 1024,
  /**
   * Values of one entry: objects, arrays and scalars, `data` included. A value takes about 50 bytes of memory, however
   * short.
   */
  entryValues: 20_000,
  /** Nesting of `data`: `{}` is depth 1. */
  dataDepth: 32,
  /** Characters of `category` and of `type`. */
  nameLength: 64,
  /** Characters of `service` and of `host` as own members. A longer one stays in `data`. */
  ownLength: 256,
  /** Milliseconds a timestamp may be ahead of the receipt. */
  futureMs: 24 * 60 * 60 * 1000,
  /** Rejections listed in one receipt. `rejectedCount` counts all. */
  rejectedListed: 100,
  /** Characters of an `Idempotency-Key`. */
  idempotencyKeyLength: 128,
  /** Milliseconds for which an idempotency key is stored. */
  idempotencyMs: 24 * 60 * 60 * 1000,
} as const;

/** Maximum entries of one stored batch. A larger request is several batches, committed together. */
export const BATCH_ENTRIES = 1000;

/** Days of retention that a workspace may choose, and the default. */
export const RETENTION_DAYS = { min: 1, max: 365, default: 30 } as const;

const LEVEL_NAMES: ReadonlySet<unknown> = new Set(LEVELS);

/**
 * Parses a stored line. Returns `null` if it is not an entry: `JSON.stringify` of an `Entry` wrote every line, but a
 * disk may return something else, and one lost entry must not affect the others.
 */
export function parseStoredLine(line: string): Entry | null {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return null;
  }
  return isEntry(value) ? value : null;
}

/** Whether a value has the members that readers rely on. */
function isEntry(value: unknown): value is Entry {
  if (typeof value !== "object" || value === null) return false;
  if (!("timestamp" in value && "level" in value && "category" in value && "type" in value)) return false;
  const { timestamp, level, category, type } = value;
  if (typeof timestamp !== "string" || Number.isNaN(Date.parse(timestamp)) || !LEVEL_NAMES.has(level)) return false;
  return typeof category === "string" && typeof type === "string" && "message" in value;
}
