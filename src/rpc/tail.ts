import type { ChargedCall, LimitState } from "../limits/state.ts";
import type { Origin } from "../platform/origin.ts";
import type { TailAuthority } from "../tail/authority.ts";
import type { Failure, FailureCode } from "./result.ts";

// How a router asks a workspace object for a tail. The shapes and headers cross versions during a deploy.

/** The caller that opens a tail: an authority, or the holder of a ticket that an authority created. */
export type TailReader = TailAuthority | { kind: "ticket"; hash: string };

export interface TailCall extends ChargedCall {
  reader: TailReader;
  projectId: string;
  /** Absent in calls of older routers. */
  origin?: Origin;
  /** As written by `tailFilterText`. */
  filter: string;
  /** The tail starts after this `seq`; `null` to start with the next entry. */
  since: number | null;
  /** Client IP, only in the sandbox, whose key is public. */
  address?: string;
}

export interface TicketCall extends ChargedCall {
  reader: TailAuthority;
  projectId: string;
}

export type TicketResult = { ok: true; ticket: string; expiresAt: number; limit: LimitState | null } | Failure;

/** Headers that carry a `TailCall` to the object, and the limit's state back with the socket. */
export const TAIL_CALL_HEADER = "X-Taffrail-Tail";
export const TAIL_LIMIT_HEADER = "X-Taffrail-Limit";

/**
 * Why no tail is opened. `FUTURE_SEQ`: the project has not reached this `seq` yet. Older objects omit the message of the codes
 * that only tails have.
 */
export type TailFailure = Failure<FailureCode | "SESSION_REVOKED" | "FUTURE_SEQ" | "SERVICE_UNAVAILABLE">;

/** Header of a `TailFailure`. A body would arrive after its answer, and the object may be lost in between. */
export const TAIL_REFUSAL_HEADER = "X-Taffrail-Refusal";

/** The response for a tail that is not opened. */
export function refusalResponse(failure: TailFailure): Response {
  return new Response(null, { headers: { [TAIL_REFUSAL_HEADER]: encodeURIComponent(JSON.stringify(failure)) } });
}
