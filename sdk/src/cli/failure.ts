/** Exit codes. */
export const EXIT = {
  ok: 0,
  /** Entries were rejected, or the result is incomplete. */
  incomplete: 1,
  /** The command line is invalid. */
  usage: 2,
  /** The service refused the request or could not be reached. */
  service: 3,
} as const;

/** An error with a message for the user, printed without a stack. */
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

/** Masks the secret, and everything that looks like an API key or access token, in a text for the terminal. */
export function withoutSecrets(text: string, secret = ""): string {
  const masked = secret === "" ? text : text.replaceAll(secret, "[key]");
  return masked.replace(KEY, "[key]");
}

/** Returns the messages of an error and its causes. `fetch` puts the reason into the cause. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An AggregateError of several addresses has a code, but no message.
  const own = error.message || ("code" in error ? String(error.code) : error.name);
  return error.cause === undefined ? own : `${own}: ${reasonOf(error.cause)}`;
}
