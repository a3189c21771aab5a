/** Bounds of the argument `max_tokens`. */
export const TOKENS = { min: 500, max: 20_000, default: 4_000 } as const;

/** Bytes of UTF-8 that count as one token. Tokenizers need 2.5 to 4 for ids, numbers and English words. */
const BYTES_PER_TOKEN = 3;

/** Estimates the tokens of a text: one for each 3 bytes of UTF-8, rounded up. */
export function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text, "utf8") / BYTES_PER_TOKEN);
}
