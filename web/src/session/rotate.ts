import { ApiFailure } from "../api/failure.ts";
import { request } from "../api/request.ts";

/** Times a rotation whose answer was lost is asked for again, with the same key ... */
const TRIES = 3;
/** ... each within this many milliseconds: all of them fit into the 30 s for which the API honours the key. */
const WITHIN_MS = 8000;
const PAUSE_MS = 1000;
/** Longest pause that an answer may ask for, in seconds. */
const PAUSE_MAX_SECONDS = 2;

export interface Rotated {
  accessToken: string;
  refreshToken: string;
}

/**
 * The successor of a refresh token. The same key gives the same successor again, so an answer that was lost is asked for
 * anew; should that fail, too, a later call with the key may still get it.
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

/** No answer, or none that says whether it rotated: a page of something between here and the service, for one. */
function isLost({ status }: ApiFailure): boolean {
  return status < 400 || status >= 500;
}

function asFailure(error: unknown, signal: AbortSignal): ApiFailure {
  if (error instanceof ApiFailure) return error;
  if (!signal.aborted) throw error;
  return new ApiFailure("The service took too long to answer.", { code: "OFFLINE", status: 0 });
}
