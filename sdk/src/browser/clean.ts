import { REDACTED, type Redactor } from "../redact.ts";

/** Levels of nesting, members of one object or list, and characters of one text that an entry keeps. */
const MAX_DEPTH = 32;
const MAX_MEMBERS = 1000;
const MAX_TEXT = 16_384;

/** Copies values into what JSON can hold, secrets masked. Never throws. */
export function createCleaner({ secrecy, suspects, text: masked }: Redactor): (value: unknown) => unknown {
  function text(value: string): string {
    const shown = value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}[Truncated]` : value;
    return suspects(shown) ? masked(shown) : shown;
  }

  function clean(value: unknown, above: readonly object[]): unknown {
    switch (typeof value) {
      case "string":
        return text(value);
      case "number":
        return Number.isFinite(value) ? value : `${value}`;
      case "bigint":
      case "symbol":
        return String(value);
      case "function":
        return "[Function]";
      case "object":
        if (value === null) return null;
        if (above.includes(value)) return "[Circular]";
        if (above.length >= MAX_DEPTH) return "[Depth]";
        try {
          return object(value, [...above, value]);
        } catch {
          return "[Throws]";
        }
      default:
        return value;
    }
  }

  function object(value: object, above: readonly object[]): unknown {
    if (value instanceof Error) return members(value, ["name", "message", "stack", "cause", "errors"], above);
    // SAFETY: each may be missing or anything; what is called is checked.
    const { toJSON, entries, byteLength } = value as {
      toJSON?: unknown;
      entries?: () => Iterable<[string, unknown]>;
      byteLength?: number;
    };
    if (typeof toJSON === "function") return clean(toJSON.call(value), above);
    if (byteLength !== undefined && !Object.hasOwn(value, "byteLength")) return `[${byteLength} bytes]`;
    if (Array.isArray(value) || value instanceof Set) {
      const list = Array.from(value.values()).slice(0, MAX_MEMBERS);
      // A header's name and value, as `Object.entries` gives them.
      if (list.length === 2 && typeof list[0] === "string" && isSecret(list[0], list[1])) list[1] = REDACTED;
      return list.map((item) => clean(item, above) ?? null);
    }
    // Maps, headers, forms and search parameters.
    return typeof entries === "function" && !Object.hasOwn(value, "entries")
      ? members(Object.fromEntries(entries.call(value)), [], above)
      : members(value, [], above);
  }

  function members(value: object, hidden: readonly string[], above: readonly object[]): object {
    const copy: Record<string, unknown> = Object.create(null);
    for (const name of [...new Set([...hidden, ...Object.keys(value)])].slice(0, MAX_MEMBERS)) {
      let member: unknown;
      try {
        // SAFETY: any object may be read by name; its members are unknown.
        member = (value as Record<string, unknown>)[name];
      } catch {
        member = "[Throws]";
      }
      copy[text(name)] = isSecret(name, member) ? REDACTED : clean(member, above);
    }
    return copy;
  }

  function isSecret(name: string, value: unknown): boolean {
    const kind = secrecy(name);
    return (
      kind > 0 &&
      value !== null &&
      value !== undefined &&
      typeof value !== "boolean" &&
      (kind > 1 || typeof value !== "number")
    );
  }

  return (value) => clean(value, []);
}
