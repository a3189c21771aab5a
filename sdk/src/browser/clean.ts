import { REDACTED, type Redactor } from "../redact.ts";
import { isError } from "../safe.ts";

/** Levels of nesting, and characters of one text, that an entry keeps. */
const MAX_DEPTH = 32;
const MAX_TEXT = 16_384;

type Named = Record<string, unknown>;

/** Copies values into what JSON can hold, secrets masked. Never throws. */
export function createCleaner({ secrecy, suspects, text: masked }: Redactor): (value: unknown) => unknown {
  function text(value: string): string {
    const shown = value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}[Truncated]` : value;
    return suspects(shown) ? masked(shown) : shown;
  }

  function clean(value: unknown, above: readonly unknown[]): unknown {
    if (typeof value === "string") return text(value);
    if (value == null || typeof value === "boolean" || Number.isFinite(value)) return value;
    if (typeof value === "function") return "[Function]";
    if (typeof value !== "object") return String(value);
    if (above.includes(value)) return "[Circular]";
    if (above.length >= MAX_DEPTH) return "[Depth]";
    try {
      // SAFETY: any object may be read by name; its members are unknown.
      return object(value as Named, [...above, value]);
    } catch {
      return "[Throws]";
    }
  }

  function object(value: Named, above: readonly unknown[]): unknown {
    const { toJSON, entries } = value;
    if (typeof toJSON === "function") return clean(toJSON.call(value), above);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (Array.isArray(value) || value instanceof Set) {
      const list = [...value];
      // A header's name and value, as `Object.entries` gives them.
      return list.map((item, i) =>
        clean(i === 1 && list.length === 2 && isSecret(`${list[0]}`, item) ? REDACTED : (item ?? null), above),
      );
    }
    // Maps, headers, forms and search parameters.
    const isMap = typeof entries === "function" && !Object.hasOwn(value, "entries");
    const source: Named = isMap ? Object.fromEntries(entries.call(value)) : value;
    const hidden = isError(value) ? ["name", "message", "stack", "cause", "errors"] : [];
    const copy: Named = Object.create(null);
    for (const name of [...hidden, ...Object.keys(source)]) {
      let member: unknown = "[Throws]";
      try {
        member = source[name];
      } catch {}
      copy[text(name)] = isSecret(name, member) ? REDACTED : clean(member, above);
    }
    return copy;
  }

  function isSecret(name: string, value: unknown): boolean {
    const kind = secrecy(name);
    return kind > 0 && value != null && typeof value !== "boolean" && (kind > 1 || typeof value !== "number");
  }

  return (value) => clean(value, []);
}
