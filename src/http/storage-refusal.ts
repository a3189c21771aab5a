import type { Refusal } from "./errors.ts";

/** Seconds a client is asked to wait while storage fails or is nearly full: it lasts until an operator has mended it. */
const RETRY_SECONDS = "30";

/** The disk or the database below is full or fails. Whether what the request wrote is stored is not known. */
export const STORAGE_FAILS: Refusal = {
  code: "SERVICE_UNAVAILABLE",
  message: "The service cannot use its storage right now: it is full or fails. Please try again later.",
  headers: { "Retry-After": RETRY_SECONDS },
};

/** Entries are refused so that what else a request writes has room. */
export const DISK_NEARLY_FULL: Refusal = {
  code: "SERVICE_UNAVAILABLE",
  message:
    "The disk of the service is nearly full, so it takes in no entries for now. Nothing was stored; reading goes on.",
  headers: { "Retry-After": RETRY_SECONDS },
};
