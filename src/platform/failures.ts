/** What the runtime says of a call to an object, or to D1, that failed on its side. */
type Flag = "overloaded" | "retryable" | "durableObjectReset";

export function hasFlag(error: Error, flag: Flag): boolean {
  return flag in error && Reflect.get(error, flag) === true;
}

/** Whether the call failed on the platform's side: what was called is overloaded, was reset or could not be reached. */
export function isFailedCall(error: Error): boolean {
  return hasFlag(error, "overloaded") || hasFlag(error, "retryable") || hasFlag(error, "durableObjectReset");
}

/**
 * SQLite's result codes for a disk that has no room or fails, at the end of a message. Objects and D1 pass the text on, and
 * there is no flag for it. https://www.sqlite.org/rescode.html
 *
 * `CORRUPT` is one of them: SQLite reports a read that ends with EIO as a malformed database (`unixRead` gives
 * `SQLITE_IOERR_CORRUPTFS`, which `sqlite3ApiExit` turns into `SQLITE_CORRUPT`). `NOTADB` is the same for a first page, and
 * `READONLY` for a file system that the kernel has remounted after an error. `BUSY` and `PROTOCOL` say that another
 * connection holds the locks of the write-ahead log: that of an object that was reset just now.
 */
const STORAGE_FAILURE = /\bSQLITE_(?:FULL|IOERR|CORRUPT|NOTADB|CANTOPEN|READONLY|BUSY|PROTOCOL)/;

/**
 * How the runtime words a failure of its own, whose cause it keeps to its log: an object's or D1's database that cannot be
 * opened, read or rolled back, for one. The caller's request is never the cause, and there is no flag for it either. D1 puts
 * its own words before it.
 */
const RUNTIME_FAILURE = /(?:^|: )internal error; reference = \w+/i;

/**
 * How D1 says that its database was reset, is overloaded, full or out of reach. https://developers.cloudflare.com/d1/observability/debug-d1/
 * A body that is no JSON is the answer of what stands before the database.
 */
const D1_FAILURE =
  /^D1_ERROR: .*(?:Network connection lost|caused object to be reset|reset because its code was updated|was reset\b|is overloaded|transient issue|internal error|exceeded maximum DB size|maximum account storage limit|Failed to parse body as JSON)/i;

/** Whether the storage of an object or of D1 could not be written or read. What was acknowledged before stays. */
export function isStorageFailure(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return [STORAGE_FAILURE, RUNTIME_FAILURE, D1_FAILURE].some((failure) => failure.test(error.message));
}

/**
 * What an operation line says of a failure of storage: SQLite's result code, or the reference that the runtime's log has the
 * cause under. Never the whole message: it may quote a statement.
 */
export function storageFaultOf({ message }: Error): string {
  return (
    /\bSQLITE_[A-Z]+(?:_[A-Z]+)*/.exec(message)?.[0] ?? RUNTIME_FAILURE.exec(message)?.[0].replace(/^: /, "") ?? "D1"
  );
}
