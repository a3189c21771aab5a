const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const ASCII_END = 0x80;

/** 1 for a byte that needs a second look in a string: it ends it, begins an escape, is a control character or no ASCII. */
const SPECIAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte >= ASCII_END ? 1 : 0,
);
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0));
const SHORT_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** Finds and decodes the JSON strings of a line in its bytes. */
export class JsonStrings {
  /** Whether the string whose end was found last is ASCII. */
  isAscii = true;

  /**
   * @param at behind the opening quote @param end of the line
   * @returns the place of the closing quote; -1 where there is no string that `JSON.parse` would take
   */
  endOf(raw: Uint8Array, at: number, end: number): number {
    this.isAscii = true;
    for (let i = at; i < end; i++) {
      const byte = raw[i] ?? 0;
      if (SPECIAL[byte] === 0) continue;
      if (byte === QUOTE) return i;
      if (byte >= ASCII_END) {
        this.isAscii = false;
        continue;
      }
      if (byte !== BACKSLASH) return -1;
      const letter = raw[++i] ?? 0;
      if (SHORT_ESCAPE[letter] === 1) continue;
      if (letter !== LETTER_U) return -1;
      for (let digit = 1; digit <= 4; digit++) if (HEX[raw[i + digit] ?? 0] === 0) return -1;
      // An escaped character may be any.
      this.isAscii = false;
      i += 4;
    }
    return -1;
  }

  /** The text between two quotes, as `endOf` has found it. */
  decoded(raw: Buffer, from: number, to: number): string {
    const written = raw.toString("utf8", from, to);
    if (!written.includes("\\")) return written;
    // SAFETY: `endOf` has found a JSON string there.
    return JSON.parse(`"${written}"`) as string;
  }
}
