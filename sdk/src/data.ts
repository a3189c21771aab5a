import type { ChildOptions } from "./logger-options.ts";
import { attempt, isError } from "./safe.ts";

/** Returns the fields of a call. A message that is an error becomes the field `error`. */
export function dataOf(message: unknown, data: unknown): object | undefined {
  const fields = data == null ? undefined : typeof data === "object" ? data : { value: data };
  if (typeof message === "string" || !isError(message)) return fields;
  if (!fields) return message;
  try {
    if (isError(fields)) return { error: message, error2: fields };
    // Iterables, and objects with `toJSON`, would lose their content by the spread.
    if (!(Symbol.iterator in fields || "toJSON" in fields)) return { error: message, ...fields };
  } catch {
    // A proxy may throw; the encoder marks that.
  }
  return { error: message, value: fields };
}

/**
 * Returns a copy with members replaced by the serializers. `[Throws]` replaces the result of a serializer that throws.
 */
export function serialized(data: unknown, serializers: ChildOptions["serializers"]): unknown {
  if (!serializers || typeof data !== "object" || data === null || isError(data)) return data;
  // SAFETY: members of any object can be read by name; their types are unknown.
  const copy = { ...data } as Record<string, unknown>;
  for (const name of Object.keys(copy)) {
    const serialize = serializers[name];
    if (serialize) copy[name] = attempt(() => serialize(copy[name]));
  }
  return copy;
}
