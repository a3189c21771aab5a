/** The reasons for which an entry is rejected. */
export const REJECTION_CODES = [
  "INVALID_LEVEL",
  "INVALID_TYPE",
  "INVALID_MESSAGE",
  "INVALID_TIMESTAMP",
  "TIMESTAMP_TOO_OLD",
  "TIMESTAMP_IN_FUTURE",
  "INVALID_DATA",
  "ENTRY_TOO_LARGE",
  "MEMBER_CONFLICT",
  "INVALID_ENTRY",
] as const;
export type RejectionCode = (typeof REJECTION_CODES)[number];

/** Maximum characters of a member's name in a message. Receipts store messages, and a name may be long. */
export const SHOWN_NAME = 64;

/** One rejected entry. `index` is its place in the request, from 0. */
export interface Rejection {
  index: number;
  code: RejectionCode;
  message: string;
}

/**
 * Thrown inside the validator only. Valid entries pay nothing for the check of a result, and as this is no `Error`,
 * invalid ones do not pay for an unused stack.
 */
export class EntryRejected {
  readonly code: RejectionCode;
  readonly message: string;

  constructor(code: RejectionCode, message: string) {
    this.code = code;
    this.message = message;
  }
}

/** Like `EntryRejected`, for a number that may have lost digits in the parser. Only `parseExactly` can decide. */
export class MaybeInexact extends EntryRejected {
  constructor() {
    super("INVALID_DATA", "data has an integer too large to be kept exactly; send it as a string.");
  }
}

export function reject(code: RejectionCode, message: string): never {
  throw new EntryRejected(code, message);
}

/** Marks a line that is not JSON. The other lines are still read. */
export const NOT_JSON = new EntryRejected("INVALID_ENTRY", "The line is not valid JSON.");

/** Stands for a line of several objects: what curl sends of a file with `-d`, which removes line breaks. */
const SEVERAL_ENTRIES = new EntryRejected(
  "INVALID_ENTRY",
  "The line has several objects. NDJSON has one entry per line; curl keeps line breaks with --data-binary.",
);
const SEVERAL_OBJECTS = /\}\s*\{/;

export function faultOfLine(line: string): EntryRejected {
  return SEVERAL_OBJECTS.test(line) ? SEVERAL_ENTRIES : NOT_JSON;
}
