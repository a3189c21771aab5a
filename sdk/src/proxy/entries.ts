/** Members of an entry that a browser may set. */
const MEMBERS = ["timestamp", "level", "category", "type", "message", "session", "traceId", "spanId"] as const;

/** Maximal characters of `userAgent`. */
const MAX_AGENT = 512;

export interface EntryRules {
  maxEntries: number;
  dataFields: ReadonlySet<string> | undefined;
  /** The browser's `User-Agent`. */
  userAgent?: string | null;
}

/**
 * Converts NDJSON, an entry, a list or `{logs: [...]}` to NDJSON for the service. Entries have only known members, and
 * a `source` that clients cannot set.
 *
 * The same body of the same browser gives the same lines, so that the service recognizes a repetition. A value that is
 * not an entry becomes `null`, so that the indexes of the others do not change.
 * @returns `undefined` if there are no entries or too many
 */
export function entryLines(body: string, rules: EntryRules): string | undefined {
  const { maxEntries } = rules;
  const found = valuesOf(body, maxEntries);
  if (found.length === 0 || found.length > maxEntries) return undefined;
  return found.map((value) => `${lineOf(entryOf(value, rules))}\n`).join("");
}

function lineOf(entry: object | null): string {
  try {
    return JSON.stringify(entry);
  } catch {
    return "null"; // Nested too deeply for the stack.
  }
}

function valuesOf(body: string, maxEntries: number): unknown[] {
  const whole = parsed(body);
  if (Array.isArray(whole)) return whole;
  if (isObject(whole)) return Array.isArray(whole.logs) && whole.message === undefined ? whole.logs : [whole];
  // Splits off at most one entry more than allowed, to detect that there are too many.
  const lines = body.split("\n", 2 * maxEntries + 2).filter((line) => line.trim() !== "");
  return lines.map(parsed);
}

function entryOf(value: unknown, { dataFields, userAgent }: EntryRules): object | null {
  if (!isObject(value)) return null;
  const entry: Record<string, unknown> = {};
  for (const name of MEMBERS) if (value[name] !== undefined) entry[name] = value[name];
  const data = isObject(value.data) ? value.data : value.data === undefined ? {} : { value: value.data };
  const kept = Object.entries(data).filter(([name]) => !dataFields || dataFields.has(name));
  const agent = userAgent ? { userAgent: userAgent.slice(0, MAX_AGENT) } : {};
  return { ...entry, data: { ...agent, ...Object.fromEntries(kept), source: "browser" } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
