/**
 * How SQLite says that the disk below it has no room or fails, with the name of its result code at the end. Objects and D1
 * pass the text on, and there is no flag for it. https://www.sqlite.org/rescode.html
 */
const STORAGE_FAILURE = /\bSQLITE_(?:FULL|IOERR|CANTOPEN)/;

/**
 * How the runtime words a failure of its own, whose cause it keeps to its log: an object's or D1's database that cannot be
 * opened or read, for one. The caller's request is never the cause, and there is no flag for it either.
 */
const RUNTIME_FAILURE = /^(?:D1_ERROR: )?internal error; reference = \w+/i;

/** Whether the storage of an object or of D1 could not be written or read. What was acknowledged before stays. */
export function isStorageFailure(error: unknown): boolean {
  return error instanceof Error && (STORAGE_FAILURE.test(error.message) || RUNTIME_FAILURE.test(error.message));
}
