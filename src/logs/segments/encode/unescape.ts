const BACKSLASH = 0x5c;
const SMALL_U = 0x75;

/** Bytes of the short escapes by the letter after the backslash. */
const SHORT: Readonly<Record<number, number>> = { 98: 8, 102: 12, 110: 10, 114: 13, 116: 9, 34: 0x22, 92: 0x5c };

/**
 * Copies a canonical JSON text without its escapes.
 * @param out at least as long as the text
 * @returns bytes written
 */
export function unescapeText(bytes: Uint8Array, start: number, end: number, out: Uint8Array): number {
  let at = 0;
  for (let i = start; i < end; i++) {
    const byte = bytes[i] ?? 0;
    if (byte !== BACKSLASH) out[at++] = byte;
    else {
      const letter = bytes[++i] ?? 0;
      // `\u001f`: canonical text escapes only control characters in this way.
      if (letter === SMALL_U) {
        out[at++] = hex(bytes[i + 3]) * 16 + hex(bytes[i + 4]);
        i += 4;
      } else out[at++] = SHORT[letter] ?? letter;
    }
  }
  return at;
}

function hex(byte = 0): number {
  return byte < 0x3a ? byte - 0x30 : byte - 0x57;
}
