/** A failure of the start: its message is a sentence for the operator, without a stack. */
export class StartFailure extends Error {
  override name = "StartFailure";
}

/** Whether an error of the operating system has this code, such as `EADDRINUSE`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Ends the process with code 1. Prints a sentence for an expected failure, and the whole error for a bug. */
export function exitWith(error: unknown): never {
  console.error(error instanceof StartFailure ? error.message : error);
  process.exit(1);
}
