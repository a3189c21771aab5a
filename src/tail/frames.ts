import type { SeqEntry } from "./entries.ts";
import { TAIL_LIMITS } from "./limits.ts";

/** One message of log entries, ready to be sent. */
export interface Frame {
  text: string;
  entries: number;
  /** The `seq` of its last entry. */
  through: number;
}

/** Frames, and how far they go: everything up to `through` that passes the filter is in them. */
export interface Framed {
  frames: Frame[];
  through: number;
}

/**
 * Cuts entries into frames.
 * @param until the `seq` up to which the entries are complete
 * @param most entries in all frames together; what lies behind them is for another time
 */
export function framesOf(entries: readonly SeqEntry[], until: number, most = Number.POSITIVE_INFINITY): Framed {
  const taken = entries.length <= most ? entries : entries.slice(0, most);
  const frames: Frame[] = [];
  let texts: string[] = [];
  let characters = 0;
  let through = 0;
  const end = () => {
    if (texts.length === 0) return;
    frames.push({ text: `{"type":"logs","entries":[${texts.join(",")}]}`, entries: texts.length, through });
    texts = [];
    characters = 0;
  };
  for (const { seq, text } of taken) {
    if (texts.length === TAIL_LIMITS.frameEntries || characters + text.length > TAIL_LIMITS.frameCharacters) end();
    texts.push(text);
    characters += text.length;
    through = seq;
  }
  end();
  return { frames, through: taken.length < entries.length ? through : until };
}

export function caughtUpText(seq: number): string {
  return JSON.stringify({ type: "caught-up", seq });
}

export function errorText(code: string): string {
  return JSON.stringify({ type: "error", code });
}
