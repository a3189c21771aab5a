import { TAIL_LIMITS } from "./limits.ts";

/** What a client may say: it has everything up to this `seq`. */
export interface Ack {
  type: "ack";
  seq: number;
}

/** Reads a client's message; null for anything that is none. */
export function readMessage(message: string | ArrayBuffer): Ack | null {
  if (typeof message !== "string" || message.length > TAIL_LIMITS.messageCharacters) return null;
  const value = parsed(message);
  if (typeof value !== "object" || value === null || !("type" in value) || !("seq" in value)) return null;
  const { type, seq } = value;
  if (type !== "ack" || typeof seq !== "number" || !Number.isSafeInteger(seq) || seq < 0) return null;
  return { type, seq };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
