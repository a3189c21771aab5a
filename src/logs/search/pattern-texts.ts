import { toByteString } from "../query/case-folding.ts";
import { patternOf } from "./pattern.ts";

/** Messages that are remembered, and characters of one. Messages repeat. */
const MAX_KNOWN = 1000;
const MAX_LENGTH = 200;

/** Finds the patterns of messages that are JSON texts: bytes of UTF-8, one character each. */
export class PatternTexts {
  #known = new Map<string, string>();

  /** @param json a string. @returns JSON of its pattern; `null` if it is damaged */
  ofJson(json: string): string | null {
    const known = this.#known.get(json);
    if (known !== undefined) return known;
    const message = parsed(json);
    if (message === null) return null;
    const pattern = patternText(message);
    if (json.length > MAX_LENGTH) return pattern;
    if (this.#known.size === MAX_KNOWN) this.#known = new Map();
    this.#known.set(copied(json), pattern);
    return pattern;
  }
}

/** Returns the JSON of a message's pattern: bytes of UTF-8, one character each. */
export function patternText(message: string): string {
  return toByteString(JSON.stringify(patternOf(message)));
}

function parsed(json: string): string | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(json, "latin1").toString("utf8"));
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/** A part of a text would keep all of it in memory. */
function copied(text: string): string {
  return Buffer.from(text, "latin1").toString("latin1");
}
