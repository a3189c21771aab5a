import type { LimitState } from "../limits/state.ts";
import type { Denied } from "../workspace/permissions.ts";

/** Why no tail is opened. `limit` as in `Denied`. `FUTURE_SEQ`: the project has no such `seq` yet. */
export type TailRefusal =
  | Denied
  | {
      ok: false;
      code: "INVALID_TOKEN" | "TOKEN_EXPIRED" | "SESSION_REVOKED" | "FUTURE_SEQ" | "SERVICE_UNAVAILABLE";
      limit: LimitState | null;
    };

/** Header of a `TailRefusal`. A body would arrive after its answer, and the object may be lost in between. */
export const TAIL_REFUSAL_HEADER = "X-Taffrail-Refusal";

/** The response for a tail that is not opened. */
export function refusalResponse(refusal: TailRefusal): Response {
  return new Response(null, { headers: { [TAIL_REFUSAL_HEADER]: encodeURIComponent(JSON.stringify(refusal)) } });
}

export function invalidTicket(): TailRefusal {
  return { ok: false, code: "INVALID_TOKEN", limit: null };
}

export function expiredTicket(): TailRefusal {
  return { ok: false, code: "TOKEN_EXPIRED", limit: null };
}
