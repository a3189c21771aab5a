/** What a command ends with. */
export const EXIT = {
  ok: 0,
  /** Entries were rejected, or an answer is not complete. */
  incomplete: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The service refused, or could not be reached. */
  service: 3,
} as const;

/** A failure that whoever typed the command can understand: printed without a stack. */
export class Failure extends Error {
  readonly code: number;

  constructor(message: string, code: number = EXIT.service) {
    super(message);
    this.code = code;
  }
}

export function usage(message: string): Failure {
  return new Failure(message, EXIT.usage);
}

/** An API key, or an access token. */
const KEY = /(?<!\w)(?:sk_[\w-]+|eyJ[\w-]+\.[\w-]+\.[\w-]+)/g;

/** Text for the terminal or a file of diagnostics, without anything that is or looks like an API key or an access token. */
export function withoutSecrets(text: string, secret = ""): string {
  const masked = secret === "" ? text : text.replaceAll(secret, "[key]");
  return masked.replace(KEY, "[key]");
}

/** What an exception says, its cause included: `fetch` tells only there why it failed. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An AggregateError of several addresses has no message of its own, but a code.
  const own = error.message || ("code" in error ? String(error.code) : error.name);
  return error.cause === undefined ? own : `${own}: ${reasonOf(error.cause)}`;
}
