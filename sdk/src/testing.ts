import type { LogEntry, LogLevel } from "./types.ts";

/** What an entry must be like; members left out match anything. */
export interface EntryMatch {
  level?: LogLevel;
  category?: string;
  type?: string;
  /** The whole message, or a pattern in it. */
  message?: string | RegExp;
  /** Members of `data` that must be there with these values; others may be there too. */
  data?: Record<string, unknown>;
}

/** A transport that keeps entries for assertions. They are there as soon as the log call returns. */
export interface MemoryTransport {
  /** All that were logged, oldest first. */
  readonly entries: readonly LogEntry[];
  /** What the logger calls. */
  write(json: string): void;
  /** Forgets all entries. */
  clear(): void;
  /** The entries that match, oldest first. */
  find(match: EntryMatch): LogEntry[];
  /** @throws Error that lists what was logged, unless an entry matches (exactly `times`, if given); gives the first */
  assertLogged(match: EntryMatch, times?: number): LogEntry;
  /** @throws Error with the entry that matches */
  assertNotLogged(match: EntryMatch): void;
}

/** `createLogger({ transport: memoryTransport() })` in a test. */
export function memoryTransport(): MemoryTransport {
  const entries: LogEntry[] = [];
  const find = (match: EntryMatch): LogEntry[] => entries.filter((entry) => matches(entry, match));
  return {
    entries,
    find,
    write(json) {
      entries.push(JSON.parse(json));
    },
    clear() {
      entries.length = 0;
    },
    assertLogged(match, times) {
      const found = find(match);
      const [first] = found;
      if (!first || (times !== undefined && found.length !== times)) {
        const wanted = times === undefined ? "no entry" : `${found.length} instead of ${times} entries`;
        throw new Error(`${wanted} matching ${shown(match)}. Logged:\n${entries.map(shown).join("\n")}`);
      }
      return first;
    },
    assertNotLogged(match) {
      const [first] = find(match);
      if (first) throw new Error(`An entry matches ${shown(match)}: ${shown(first)}`);
    },
  };
}

function matches(entry: LogEntry, { message, data, ...rest }: EntryMatch): boolean {
  if (message instanceof RegExp ? !new RegExp(message, message.flags.replace("g", "")).test(entry.message) : false) {
    return false;
  }
  if (typeof message === "string" && message !== entry.message) return false;
  return contains(entry, rest) && (data === undefined || contains(entry.data, data));
}

/** Whether `actual` has all that `wanted` has; lists must be equal in length. */
function contains(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return Object.is(actual, wanted);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(wanted)) return false;
  if (Array.isArray(wanted) && Array.isArray(actual) && wanted.length !== actual.length) return false;
  // SAFETY: any object may be read by name; its members are unknown.
  return Object.entries(wanted).every(([name, value]) => contains((actual as Record<string, unknown>)[name], value));
}

function shown(value: object): string {
  return JSON.stringify(value, (_, one: unknown) => (one instanceof RegExp ? String(one) : one));
}
