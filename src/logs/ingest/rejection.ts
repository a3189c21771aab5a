/** Why an entry of a request was not stored. */
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

/** Characters of a client's own member name that a message repeats: receipts keep messages, and a name may be long. */
export const SHOWN_NAME = 64;

/** One refused entry: its place in the request, from 0. */
export interface Rejection {
  index: number;
  code: RejectionCode;
  message: string;
}

/** Thrown inside the validator only: an entry fails in one place, and good entries pay nothing for the possibility. */
export class EntryRejected extends Error {
  readonly code: RejectionCode;

  constructor(code: RejectionCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** The same for a number that may have lost digits in the parse: only `parseExactly` can tell. */
export class MaybeInexact extends EntryRejected {
  constructor() {
    super("INVALID_DATA", "data has an integer too large to be kept exactly; send it as a string.");
  }
}

export function reject(code: RejectionCode, message: string): never {
  throw new EntryRejected(code, message);
}
