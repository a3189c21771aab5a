/** One invalid field of a refused request body: its path and what is wrong with it. */
export interface FailureDetail {
  path: string;
  code: string;
  message: string;
}

/** The limit headers of a response. */
export interface LimitState {
  limit: number;
  remaining: number;
  /** Unix seconds at which the oldest counted request leaves the window. */
  resetAt: number;
}

/** The browser could not reach the service. Not a code of the API. */
export const OFFLINE = "OFFLINE";

/** A call that was refused or that did not reach the service. `code` is a code of the API or `OFFLINE`. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly code: string;
  /** 0 if there was no response. */
  readonly status: number;
  readonly details: readonly FailureDetail[];
  readonly limit: LimitState | null;
  /** Seconds after which the same call may succeed; `null` if the response has no `Retry-After`. */
  readonly retryAfter: number | null;
  readonly requestId: string | null;
  /** Local time of the failure in epoch milliseconds. */
  readonly at = Date.now();

  constructor(
    message: string,
    fields: {
      code: string;
      status: number;
      details?: readonly FailureDetail[];
      limit?: LimitState | null;
      retryAfter?: number | null;
      requestId?: string | null;
    },
  ) {
    super(message);
    this.code = fields.code;
    this.status = fields.status;
    this.details = fields.details ?? [];
    this.limit = fields.limit ?? null;
    this.retryAfter = fields.retryAfter ?? null;
    this.requestId = fields.requestId ?? null;
  }
}

/** A response that is no envelope. Not a code of the API. */
export const UNEXPECTED = "UNEXPECTED";

/**
 * Whether the service was unreachable or unable to respond, so that the same call may succeed later. A success that is no
 * envelope comes from something between the browser and the service, such as the sign-in page of a network.
 */
export function isOutage({ code, status }: Pick<ApiFailure, "code" | "status">): boolean {
  return code === OFFLINE || status === 408 || status >= 500 || (code === UNEXPECTED && status >= 200 && status < 300);
}

/** Whether a limit refused the call, so that the same call may succeed after `retryAfter`. */
export function isLimited({ status }: Pick<ApiFailure, "status">): boolean {
  return status === 429;
}

/** Returns the failure of a call that did not reach the service. */
export function unreachable(): ApiFailure {
  return new ApiFailure("The service could not be reached.", { code: OFFLINE, status: 0 });
}

/** Message shown while a call is retried. Replaces the advice to try again with which messages of the API end. */
export function retryText(message: string): string {
  return `${message.replace(/ (Please try|Try) again\.$/, "")} Trying again.`;
}

/** Converts any thrown value to a failure that a page can show. */
export function failureOf(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  // A member that the response lacks.
  const isUnreadable = error instanceof TypeError;
  const message = isUnreadable
    ? "The response of the service could not be read."
    : error instanceof Error
      ? error.message
      : String(error);
  return new ApiFailure(message, { code: UNEXPECTED, status: 0 });
}
