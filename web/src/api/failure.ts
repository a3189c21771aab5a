/** One offending field of a refused body: where it is, and what is wrong with it. */
export interface FailureDetail {
  path: string;
  code: string;
  message: string;
}

/** What the limit headers of an answer say; null where an answer has none. */
export interface LimitState {
  limit: number;
  remaining: number;
  /** Unix seconds at which the oldest counted request leaves the window. */
  resetAt: number;
}

/** The browser could not reach the service at all. Not one of the API's own codes. */
export const OFFLINE = "OFFLINE";

/** A call that was refused or did not get through. `code` is one of the API's, or `OFFLINE`. */
export class ApiFailure extends Error {
  override readonly name = "ApiFailure";
  readonly code: string;
  /** 0 where there was no answer. */
  readonly status: number;
  readonly details: readonly FailureDetail[];
  readonly limit: LimitState | null;
  /** Seconds after which the same call may fit; null where the answer does not say. */
  readonly retryAfter: number | null;
  readonly requestId: string | null;
  /** Local time in milliseconds. */
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

/** Whether the service could not be reached, or could not answer: the same call may get through later, unchanged. */
export function isOutage({ code, status }: Pick<ApiFailure, "code" | "status">): boolean {
  return code === OFFLINE || status === 408 || status >= 500;
}

/** A call that did not get through. */
export function unreachable(): ApiFailure {
  return new ApiFailure("The service could not be reached.", { code: OFFLINE, status: 0 });
}

/** What a page says while it repeats a call: never together with the advice to do so, which the API's messages end with. */
export function retryText(message: string): string {
  return `${message.replace(/ (Please try|Try) again\.$/, "")} Trying again.`;
}

/** Any thrown value as a failure that can be shown. */
export function failureOf(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new ApiFailure(message, { code: "UNEXPECTED", status: 0 });
}
