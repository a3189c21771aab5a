/**
 * The closed list of error codes and the HTTP status of each.
 * A response can have no other code: everything that builds an error takes an `ErrorCode`.
 */
export const ERROR_STATUS = {
  VALIDATION_ERROR: 400,
  WEAK_PASSWORD: 400,
  INVALID_TOKEN: 400,
  TOKEN_EXPIRED: 400,
  OAUTH_STATE_INVALID: 400,
  UNAUTHORIZED: 401,
  INVALID_CREDENTIALS: 401,
  INVALID_ACCESS_TOKEN: 401,
  ACCESS_TOKEN_EXPIRED: 401,
  SESSION_REVOKED: 401,
  INVALID_REFRESH_TOKEN: 401,
  REFRESH_TOKEN_EXPIRED: 401,
  REFRESH_TOKEN_REUSED: 401,
  INVALID_API_KEY: 401,
  API_KEY_EXPIRED: 401,
  API_KEY_REVOKED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPE: 403,
  EMAIL_NOT_VERIFIED: 403,
  REAUTHENTICATION_REQUIRED: 403,
  OAUTH_ACCESS_DENIED: 403,
  OAUTH_EMAIL_UNVERIFIED: 403,
  NOT_FOUND: 404,
  OAUTH_NOT_CONFIGURED: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  EMAIL_ALREADY_EXISTS: 409,
  PROVIDER_ALREADY_LINKED: 409,
  LAST_AUTH_METHOD: 409,
  IDEMPOTENCY_CONFLICT: 409,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  OAUTH_PROVIDER_ERROR: 502,
  SERVICE_UNAVAILABLE: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** One offending field: `path` is dotted (`filters.level`, `logs.3.message`), empty for the body as a whole. */
export interface ErrorDetail extends ErrorPlace {
  path: string;
  code: string;
  message: string;
}

/** Where a part of a field's text is wrong. */
export interface ErrorPlace {
  /** UTF-16 offset. */
  position?: number;
  /** What is accepted at the position. */
  expected?: readonly string[];
  /** A text that may be meant, in place of what begins at the position. */
  suggestion?: string;
  /** The whole text with the suggestion in its place. */
  corrected?: string;
}

/** The public part of an error. Never contains a cause, a stack or another tenant's data. */
export interface Refusal {
  code: ErrorCode;
  message: string;
  details?: readonly (ErrorDetail | object)[];
  headers?: Readonly<Record<string, string>>;
}

/** Thrown by routes and middleware only; the application's error handler turns it into the envelope. */
export class ApiError extends Error {
  readonly refusal: Refusal;

  /** `options.cause`: the failure of the platform behind the refusal. */
  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.message, options);
    this.name = "ApiError";
    this.refusal = refusal;
  }
}

/** Ends the request with a refusal. */
export function refuse(code: ErrorCode, message: string, extra: Omit<Refusal, "code" | "message"> = {}): never {
  throw new ApiError({ code, message, ...extra });
}

/**
 * Ends the request with 429. The interface fixes the message, so a detail names the limit.
 * @param limit what is limited, for whom and in which window
 * @param waitMs milliseconds until the request would be admitted, if no limit state of the request has them
 */
export function refuseTooMany(limit: string | undefined, waitMs?: number): never {
  const details = limit === undefined ? [] : [{ path: "", code: "rate_limit", message: limit }];
  return refuse("RATE_LIMITED", "Too many requests", {
    details,
    ...(waitMs === undefined ? {} : { headers: { "Retry-After": retryAfter(waitMs) } }),
  });
}

/** Returns the value of `Retry-After`: seconds, rounded up, at least 1. */
export function retryAfter(ms: number): string {
  return String(Math.max(1, Math.ceil(ms / 1000)));
}

/** Ends the request with 400 and one detail per offending field. */
export function refuseFields(details: readonly ErrorDetail[]): never {
  const first = details[0];
  const message = first ? `${first.path ? `${first.path}: ` : ""}${first.message}` : "The request is not valid.";
  throw new ApiError({ code: "VALIDATION_ERROR", message, details });
}

/** `Retry-After` in seconds if an object or D1 cannot answer. */
const RETRY_AFTER_SECONDS = "1";

/** An object or D1 is overloaded, was reset or could not be reached. */
export const BUSY: Refusal = {
  code: "SERVICE_UNAVAILABLE",
  message: "The service is busy. Try again.",
  headers: { "Retry-After": RETRY_AFTER_SECONDS },
};

/** `Retry-After` in seconds if storage fails or is nearly full, which lasts until an operator fixes it. */
const RETRY_SECONDS = "30";

/** The disk or the database is full or fails. Whether the write of the request is stored is unknown. */
export const STORAGE_FAILS: Refusal = {
  code: "SERVICE_UNAVAILABLE",
  message: "The storage of the service is full or fails. Try again later.",
  headers: { "Retry-After": RETRY_SECONDS },
};

/** Refuses entries, so that other writes have room. */
export const DISK_NEARLY_FULL: Refusal = {
  code: "SERVICE_UNAVAILABLE",
  message: "The disk of the service is nearly full. The entries were not stored. Reading still works.",
  headers: { "Retry-After": RETRY_SECONDS },
};
