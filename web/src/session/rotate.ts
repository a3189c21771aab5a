import { ApiFailure } from "../api/failure.ts";
import { request } from "../api/request.ts";

/** Attempts of a rotation whose response was lost, all with the same key. */
const TRIES = 3;
/** Milliseconds for one attempt: all attempts fit into the 30 s for which the API honours the key. */
const WITHIN_MS = 8000;
const PAUSE_MS = 1000;
/** Longest pause in seconds that a response may ask for. */
const PAUSE_MAX_SECONDS = 2;

export interface Rotated {
  accessToken: string;
  refreshToken: string;
}

/**
 * Returns the successor of a refresh token. The same key returns the same successor again, so a lost response is
 * requested again. If all attempts fail, a later call with the key may still succeed.
 * @throws ApiFailure
 */
export async function rotated(refreshToken: string, idempotencyKey: string): Promise<Rotated> {
  for (let attempt = 1; ; attempt++) {
    const signal = AbortSignal.timeout(WITHIN_MS);
    try {
      const { data } = await request<Rotated>("/auth/refresh", { body: { refreshToken }, idempotencyKey, signal });
      return data;
    } catch (error) {
      const failure = asFailure(error, signal);
      if (!isLost(failure) || attempt === TRIES) throw failure;
      const seconds = Math.min(failure.retryAfter ?? 0, PAUSE_MAX_SECONDS);
      await new Promise((resolve) => setTimeout(resolve, Math.max(PAUSE_MS, seconds * 1000)));
    }
  }
}

/** Whether it is unknown if the service rotated: no response, or one of an intermediary. */
function isLost({ status }: ApiFailure): boolean {
  return status < 400 || status >= 500;
}

function asFailure(error: unknown, signal: AbortSignal): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (!signal.aborted) throw error;
  return new ApiFailure("The service took too long to respond.", { code: "OFFLINE", status: 0 });
}
