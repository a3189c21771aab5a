import { attempt, isError } from "./safe.ts";
import type { ChildOptions } from "./types.ts";

/** What the call's second argument means; an error as message brings itself. */
export function dataOf(message: unknown, data: unknown): object | undefined {
  const fields = data == null ? undefined : typeof data === "object" ? data : { value: data };
  if (typeof message === "string" || !isError(message)) return fields;
  if (!fields) return message;
  try {
    if (isError(fields)) return { error: message, error2: fields };
    // What is more than its own members, a Map or a list, would be nothing of itself among others.
    if (!(Symbol.iterator in fields || "toJSON" in fields)) return { error: message, ...fields };
  } catch {
    // A proxy may answer nothing; that is marked where it is written.
  }
  return { error: message, value: fields };
}

/** A copy in which a child's serializers have replaced members. One that throws leaves a mark. */
export function serialized(data: unknown, serializers: ChildOptions["serializers"]): unknown {
  if (!serializers || typeof data !== "object" || data === null || isError(data)) return data;
  // SAFETY: any object may be read by name; its members are unknown.
  const copy = { ...data } as Record<string, unknown>;
  for (const name of Object.keys(copy)) {
    const serialize = serializers[name];
    if (serialize) copy[name] = attempt(() => serialize(copy[name]));
  }
  return copy;
}
