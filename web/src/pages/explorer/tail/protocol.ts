import type { LogEntry } from "../../../model/types.ts";

/** What the service sends; see docs/tail.md. */
export type TailFrame =
  | { type: "logs"; entries: LogEntry[] }
  | { type: "caught-up"; seq: number }
  | { type: "error"; code: string };

/** Close codes of the service. */
export const CLOSE = {
  /** A key, session, membership or project has ended; the reason is an error code. */
  ended: 4001,
  /** Too far behind with acknowledgements: come back at once. */
  behind: 4008,
  /** The service could make nothing of what was sent. */
  badMessage: 1008,
} as const;

/** Null for what is no frame: a newer service may send kinds that this page does not know. */
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

/** Said where whoever follows has to sign in anew. */
export const SESSION_ENDED = "Your session has ended. Sign in again to go on.";

/** What a close with `CLOSE.ended` means to whoever looks at the page. */
export function endWords(code: string): string {
  switch (code) {
    case "SESSION_REVOKED":
      return SESSION_ENDED;
    case "API_KEY_REVOKED":
      return "The key has been revoked.";
    case "API_KEY_EXPIRED":
      return "The key has expired.";
    case "NOT_FOUND":
      return "The project is gone, or you may no longer read it.";
    default:
      return "You may no longer read this project.";
  }
}
