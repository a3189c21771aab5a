import { isBucketFailure } from "./bucket-failure.ts";

/** How to recognize failures of the platform by an error's flags and message. */

/** Flags that the runtime sets on the error of a failed call to an object or to D1. */
type Flag = "overloaded" | "retryable" | "durableObjectReset";

export function hasFlag(error: Error, flag: Flag): boolean {
  return flag in error && Reflect.get(error, flag) === true;
}

/** Whether the call failed on the platform's side: its target is overloaded, was reset or could not be reached. */
export function isFailedCall(error: Error): boolean {
  return hasFlag(error, "overloaded") || hasFlag(error, "retryable") || hasFlag(error, "durableObjectReset");
}

/**
 * SQLite's result codes for a disk that is full or fails, at the end of a message. Objects and D1 pass the text on;
 * there is no flag for it. https://www.sqlite.org/rescode.html
 *
 * `CORRUPT` is included because SQLite reports a read that ends with EIO as a malformed database (`unixRead` returns
 * `SQLITE_IOERR_CORRUPTFS`, which `sqlite3ApiExit` turns into `SQLITE_CORRUPT`). `NOTADB` is its equivalent for the
 * first page, and `READONLY` for a file system that the kernel remounted after an error. `BUSY` and `PROTOCOL` mean
 * that another connection holds the locks of the write-ahead log: that of an object that was reset just before.
 */
const STORAGE_FAILURE = /\bSQLITE_(?:FULL|IOERR|CORRUPT|NOTADB|CANTOPEN|READONLY|BUSY|PROTOCOL)/;

/**
 * The runtime's message for its own failures, whose cause is only in its log: for example, the database of an
 * object or of D1 cannot be opened, read or rolled back. The caller's request is never the cause, and there is no flag
 * for it. D1 adds a prefix.
 */
const RUNTIME_FAILURE = /(?:^|: )internal error; reference = \w+/i;

/**
 * D1's messages for a database that was reset, is overloaded, full or unreachable.
 * https://developers.cloudflare.com/d1/observability/debug-d1/ A body that is not JSON is a response of the layer in
 * front of the database.
 */
const D1_FAILURE =
  /^D1_ERROR: .*(?:Network connection lost|caused object to be reset|reset because its code was updated|was reset\b|is overloaded|transient issue|internal error|exceeded maximum DB size|maximum account storage limit|Failed to parse body as JSON)/i;

/** Whether the storage of an object, D1 or R2 could not be read or written. Data acknowledged before is kept. */
export function isStorageFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (isBucketFailure(error.message)) return true;
  return [STORAGE_FAILURE, RUNTIME_FAILURE, D1_FAILURE].some((failure) => failure.test(error.message));
}

/**
 * Returns the fault that an event names for a storage failure: SQLite's result code, or the reference to the cause in
 * the runtime's log. Never the whole message, which may contain a statement.
 */
export function storageFaultOf({ message }: Error): string {
  if (isBucketFailure(message)) return message;
  return (
    /\bSQLITE_[A-Z]+(?:_[A-Z]+)*/.exec(message)?.[0] ?? RUNTIME_FAILURE.exec(message)?.[0].replace(/^: /, "") ?? "D1"
  );
}
