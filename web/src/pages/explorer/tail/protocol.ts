import type { LogEntry } from "../../../model/types.ts";

/** Frames of the service; see docs/tail.md. */
export type TailFrame =
  | { type: "logs"; entries: LogEntry[] }
  | { type: "caught-up"; seq: number }
  | { type: "error"; code: string };

/** Close codes of the service. */
export const CLOSE = {
  /** A key, session, membership or project has ended; the reason is an error code. */
  ended: 4001,
  /** Too far behind with acknowledgements: reconnect immediately. */
  behind: 4008,
  /** The service could not parse a message of the client. */
  badMessage: 1008,
} as const;

/** Parses a frame. Returns `null` for invalid frames and for kinds that only a newer service sends. */
export function readFrame(text: string): TailFrame | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null || !("type" in value)) return null;
  if (value.type === "logs" && "entries" in value && Array.isArray(value.entries)) {
    return { type: "logs", entries: value.entries };
  }
  if (value.type === "caught-up" && "seq" in value && typeof value.seq === "number") {
    return { type: "caught-up", seq: value.seq };
  }
  if (value.type === "error" && "code" in value && typeof value.code === "string") {
    return { type: "error", code: value.code };
  }
  return null;
}

export function ackText(seq: number): string {
  return JSON.stringify({ type: "ack", seq });
}

/** Reason of a tail that ended because the user must sign in again. */
export const SESSION_ENDED = "Your session ended. Sign in to continue.";

/** Explains a close with `CLOSE.ended` to the reader. */
export function endReason(code: string): string {
  switch (code) {
    case "SESSION_REVOKED":
      return SESSION_ENDED;
    case "API_KEY_REVOKED":
      return "The API key was deleted.";
    case "API_KEY_EXPIRED":
      return "The API key expired.";
    case "NOT_FOUND":
      return "The project was deleted or you no longer have access.";
    default:
      return "You no longer have access to this project.";
  }
}
