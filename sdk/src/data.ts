import { isError } from "./safe.ts";

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
