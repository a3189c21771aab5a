/** Replaces a value whose reading throws. */
export const THROWS = "[Throws]";

const utf8: TextEncoder = /* @__PURE__ */ new TextEncoder();
const decoder: TextDecoder = /* @__PURE__ */ new TextDecoder();

export function encodeText(text: string): Uint8Array {
  return utf8.encode(text);
}

/** Returns the length of a text in UTF-8 bytes. */
export function bytesOf(text: string): number {
  return utf8.encode(text).length;
}

export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

export function attempt<T>(read: () => T): T | typeof THROWS {
  try {
    return read();
  } catch {
    return THROWS;
  }
}

/** Returns a member of an object, or `[Throws]`. */
export function memberOf(o: object, key: string | number): unknown {
  try {
    // SAFETY: members of any object can be read by name; their types are unknown.
    return (o as Record<string | number, unknown>)[key];
  } catch {
    return THROWS;
  }
}

/** Whether a value is an error. Never throws, although `instanceof` may throw for a proxy. */
export function isError(value: unknown): value is Error {
  try {
    return value instanceof Error;
  } catch {
    return false;
  }
}

export function asError(error: unknown): Error {
  return isError(error) ? error : new Error(attempt(() => String(error)));
}

/** Waits for `work`, at most `ms` milliseconds. The timer keeps the process running. */
export async function withTimeout(ms: number, work: Promise<unknown>): Promise<void> {
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    // At most eleven days, because timers of 2 ** 31 ms and more fire immediately.
    deadline = setTimeout(resolve, Math.min(ms, 1e9));
  });
  await Promise.race([work, late]);
  clearTimeout(deadline);
}
