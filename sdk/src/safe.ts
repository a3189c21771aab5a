/** What stands for a value that could not be read. */
export const THROWS = "[Throws]";

const utf8: TextEncoder = /* @__PURE__ */ new TextEncoder();
const decoder: TextDecoder = /* @__PURE__ */ new TextDecoder();

export function encodeText(text: string): Uint8Array {
  return utf8.encode(text);
}

/** Bytes of a text in UTF-8. */
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

/** A member, whatever reading it does. */
export function memberOf(o: object, key: string | number): unknown {
  try {
    // SAFETY: reading any member of any object is sound; its value is unknown.
    return (o as Record<string | number, unknown>)[key];
  } catch {
    return THROWS;
  }
}

/** Asking may throw: a proxy decides what it is an instance of. */
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

/** Waits for something, but not for ever; the process lives as long. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    // Eleven days: from 2 ** 31 on timers go off at once.
    deadline = setTimeout(resolve, Math.min(ms, 1e9));
  });
  await Promise.race([work, late]);
  clearTimeout(deadline);
}
