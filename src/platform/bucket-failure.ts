/** Operations of R2, by the names of the binding's methods. */
export type BucketOperation = "head" | "get" | "put" | "delete" | "list";

/**
 * Codes of R2 that no retry changes: credentials, unknown bucket, invalid names, metadata, ranges and digests.
 * https://developers.cloudflare.com/r2/api/error-codes/
 */
const PERMANENT = new Set([10002, 10003, 10006, 10012, 10020, 10022, 10029, 10037, 10039, 10042, 100_100]);

/** Begins every message, because only the message of an error crosses a call between objects. */
const PREFIX = "R2_ERROR: ";

/** A call of R2 has failed. The message has the operation and R2's code, never a key or R2's own text. */
export class BucketFailure extends Error {
  readonly operation: BucketOperation;
  /** Whether a later call may succeed. */
  readonly isTransient: boolean;
  /** R2's code; `null` if it has not responded with one. */
  readonly code: number | null;

  constructor(operation: BucketOperation, reason: string | number, isTransient: boolean, cause?: unknown) {
    super(`${PREFIX}${operation}: ${reason}`, { cause });
    this.name = "BucketFailure";
    this.operation = operation;
    this.isTransient = isTransient;
    this.code = typeof reason === "number" ? reason : null;
  }

  /** Classifies an error of the binding by the code at the end of its message. */
  static of(operation: BucketOperation, error: unknown): BucketFailure {
    if (error instanceof BucketFailure) return error;
    const code = error instanceof Error ? /\((\d{5,6})\)\s*$/.exec(error.message)?.[1] : undefined;
    if (code !== undefined) return new BucketFailure(operation, Number(code), !PERMANENT.has(Number(code)), error);
    // The binding throws a `TypeError` for an argument that it cannot send.
    if (error instanceof TypeError) return new BucketFailure(operation, "invalid argument", false, error);
    return new BucketFailure(operation, "R2 cannot be reached", true, error);
  }
}

/** Whether a message is of a `BucketFailure`, also of one from another object. */
export function isBucketFailure(message: string): boolean {
  return message.startsWith(PREFIX);
}
