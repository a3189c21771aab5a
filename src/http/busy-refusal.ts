import type { Refusal } from "./errors.ts";

/** Seconds a client is asked to wait when an object or D1 cannot answer. */
const RETRY_AFTER_SECONDS = "1";

/** An object or D1 is overloaded, was reset or could not be reached. */
export const BUSY: Refusal = {
  code: "SERVICE_UNAVAILABLE",
  message: "The service is busy. Please try again.",
  headers: { "Retry-After": RETRY_AFTER_SECONDS },
};
