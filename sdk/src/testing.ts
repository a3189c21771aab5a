import type { LogEntry, LogLevel } from "./types.ts";

/** Conditions on an entry. A member that is left out matches any value. */
export interface EntryMatch {
  level?: LogLevel;
  category?: string;
  type?: string;
  /** The whole message, or a pattern that it matches. */
  message?: string | RegExp;
  /** Members that `data` must have with these values. Other members are allowed. */
  data?: Record<string, unknown>;
}

/** A transport that stores entries for assertions. An entry is stored before the log call returns. */
export interface MemoryTransport {
  /** All entries, oldest first. */
  readonly entries: readonly LogEntry[];
  /** Stores an entry. The logger calls this method. */
  write(json: string): void;
  /** Removes all entries. */
  clear(): void;
  /** Returns the entries that match, oldest first. */
  find(match: EntryMatch): LogEntry[];
  /**
   * Asserts that at least one entry matches, or exactly `times` entries if that is given.
   * @returns the first entry that matches
   * @throws Error that lists the logged entries
   */
  assertLogged(match: EntryMatch, times?: number): LogEntry;
  /**
   * Asserts that no entry matches.
   * @throws Error that contains the first entry that matches
   */
  assertNotLogged(match: EntryMatch): void;
}

/**
 * Creates a transport that stores entries for assertions in tests.
 * @example
 * import { createLogger } from "taffrail";
 * import { memoryTransport } from "taffrail/testing";
 *
 * const logs = memoryTransport();
 * const logger = createLogger({ transport: logs });
 * logger.warn("Stock is low", { sku: "A-1", left: 2 });
 * logs.assertLogged({ level: "warn", message: /stock/i, data: { sku: "A-1" } });
 */
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

/** Whether `actual` has all members of `wanted`, at any depth. Lists must have the same length. */
function contains(actual: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return Object.is(actual, wanted);
  if (typeof actual !== "object" || actual === null || Array.isArray(actual) !== Array.isArray(wanted)) return false;
  if (Array.isArray(wanted) && Array.isArray(actual) && wanted.length !== actual.length) return false;
  // SAFETY: members of any object can be read by name; their types are unknown.
  return Object.entries(wanted).every(([name, value]) => contains((actual as Record<string, unknown>)[name], value));
}

function shown(value: object): string {
  return JSON.stringify(value, (_, one: unknown) => (one instanceof RegExp ? String(one) : one));
}
