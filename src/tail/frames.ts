import type { SeqEntry } from "./entries.ts";
import { TAIL_LIMITS } from "./limits.ts";

/** One message of log entries, ready to be sent. */
export interface Frame {
  text: string;
  entries: number;
  /** Of the text as a socket holds it, in UTF-8. */
  bytes: number;
  /** The `seq` of its last entry. */
  through: number;
}

/** Frames, and how far they go: everything up to `through` that passes the filter is in them. */
export interface FrameList {
  frames: Frame[];
  through: number;
}

/** What all frames together may have; what lies behind is for another time. */
export interface FrameLimits {
  entries: number;
  /** Passed by one entry at most. */
  characters: number;
}

const NO_BOUND: FrameLimits = { entries: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY };

/**
 * Cuts entries into frames.
 * @param until the `seq` up to which the entries are complete
 */
export function framesOf(entries: readonly SeqEntry[], until: number, most: FrameLimits = NO_BOUND): FrameList {
  const taken = entries.slice(0, countWithin(entries, most));
  const frames: Frame[] = [];
  let texts: string[] = [];
  let characters = 0;
  let through = 0;
  const end = () => {
    if (texts.length === 0) return;
    const text = `{"type":"logs","entries":[${texts.join(",")}]}`;
    frames.push({ text, entries: texts.length, bytes: Buffer.byteLength(text), through });
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

function countWithin(entries: readonly SeqEntry[], most: FrameLimits): number {
  let [count, characters] = [0, 0];
  for (const { text } of entries) {
    if (count >= most.entries || characters >= most.characters) break;
    count++;
    characters += text.length;
  }
  return count;
}

export function caughtUpText(seq: number): string {
  return JSON.stringify({ type: "caught-up", seq });
}

export function errorText(code: string): string {
  return JSON.stringify({ type: "error", code });
}
