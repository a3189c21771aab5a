/** A start that cannot be: its message is a plain sentence for whoever typed the command, without a stack. */
export class StartFailure extends Error {
  override name = "StartFailure";
}

/** Whether an error of the operating system carries this code, e.g. `EADDRINUSE`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}

/** Ends the process with code 1: a plain sentence for an expected failure, the whole error for a bug. */
export function exitWith(error: unknown): never {
  console.error(error instanceof StartFailure ? error.message : error);
  process.exit(1);
}
