/** Levels of operation lines; `LOG_LEVEL` silences those below it. */
export type OperationLevel = "info" | "warn" | "error";

const ORDER: Record<OperationLevel, number> = { info: 0, warn: 1, error: 2 };

/** Names that would carry a secret, an address or log content: the type refuses them. */
type Forbidden =
  | "token"
  | "accessToken"
  | "refreshToken"
  | "secret"
  | "apiKey"
  | "password"
  | "email"
  | "authorization"
  | "cookie"
  | "message"
  | "body"
  | "data"
  | "entries"
  | "code"
  | "url";

export type OperationFields = {
  /** Dotted name of what was done, e.g. `workspace.ingest`. */
  event: string;
  /** `ok`, or the error code or reason that ended it. */
  outcome: string;
} & { [name: string]: string | number | boolean | null | undefined } & { [name in Forbidden]?: never };

/**
 * Writes one JSON line per operation, made for `wrangler tail --format json`.
 * The threshold is per isolate: router and objects of one worker share their settings.
 */
export function operation(threshold: OperationLevel, level: OperationLevel, fields: OperationFields): void {
  if (ORDER[level] >= ORDER[threshold]) console.log(JSON.stringify({ level, ...fields }));
}

/** The level an answer deserves: a fault of ours is an error, a refusal is information. */
export function levelOfStatus(status: number): OperationLevel {
  return status >= 500 ? "error" : "info";
}
