import { REDACTED, type Redactor } from "../redact.ts";
import { isError } from "../safe.ts";
import { MAX_DEPTH, MAX_TEXT } from "./limits.ts";

type Named = Record<string, unknown>;

/** Creates a function that copies a value to one that JSON can represent, with secrets masked. Never throws. */
export function createCleaner([secrecy, suspects, masked]: Redactor): (value: unknown) => unknown {
  function text(value: string, memberName = ""): string {
    const shown = value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}[Truncated]` : value;
    if (!suspects(shown)) return shown;
    try {
      // JSON in a string is masked by its structure, because its names may contain escapes.
      const json = JSON.stringify(clean(JSON.parse(shown), []));
      if (json.includes(REDACTED)) return json;
    } catch {}
    return masked(shown, memberName);
  }

  /** @param memberName name of the member whose value is copied */
  function clean(value: unknown, ancestors: readonly unknown[], memberName = ""): unknown {
    if (typeof value === "string") return text(value, memberName);
    if (value == null || typeof value === "boolean" || Number.isFinite(value)) return value;
    if (typeof value === "function") return "[Function]";
    if (typeof value !== "object") return String(value);
    if (ancestors.includes(value)) return "[Circular]";
    if (ancestors.length >= MAX_DEPTH) return "[Depth]";
    try {
      // SAFETY: members of any object can be read by name; their types are unknown.
      return object(value as Named, [...ancestors, value], memberName);
    } catch {
      return "[Throws]";
    }
  }

  function object(value: Named, ancestors: readonly unknown[], memberName: string): unknown {
    const { toJSON, entries } = value;
    if (typeof toJSON === "function") return clean(toJSON.call(value), ancestors);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    const isList = Array.isArray(value) || value instanceof Set;
    // Maps, headers, forms and search parameters.
    const isMap = !isList && typeof entries === "function" && !Object.hasOwn(value, "entries");
    // SAFETY: members of a list are read by index.
    const source = (
      value instanceof Set ? [...value] : isMap ? Object.fromEntries(entries.call(value)) : value
    ) as Named;
    const hidden = isError(value) ? ["name", "message", "stack", "cause", "errors"] : [];
    const copy = isList ? [] : Object.create(null);
    for (const key of [...hidden, ...Object.keys(source)]) {
      let name = key;
      let member: unknown = "[Throws]";
      try {
        member = source[key];
        // A pair of a header's name and value, as in `Object.entries`.
        if (isList && key === "1" && source.length === 2) name = `${source[0]}`;
      } catch {}
      copy[text(key)] = isSecret(name, member) ? REDACTED : clean(member, ancestors, isList ? memberName : key);
    }
    return copy;
  }

  function isSecret(name: string, value: unknown): boolean {
    return value != null && typeof value !== "boolean" && secrecy(name) > (typeof value === "number" ? 1 : 0);
  }

  return (value) => clean(value, []);
}
