/** The reason why a body has no entries. */
export interface BodyFailure {
  reason: "invalid" | "too_many";
  message: string;
}

export const NO_ENTRY = "The body has no entry.";

const GZIP_PROBLEM = "The body is gzip. Send it with Content-Encoding: gzip.";

/** The message about a body that is not UTF-8. @param start the first bytes of the body */
export function notUtf8(start: Uint8Array): string {
  return isGzip(start) ? GZIP_PROBLEM : "The body is not valid UTF-8.";
}

/** Whether bytes begin as gzip does (RFC 1952). Such bytes are never UTF-8. */
function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export function tooManyEntries(limit: number): BodyFailure {
  return { reason: "too_many", message: `The body has more than ${limit} entries.` };
}
