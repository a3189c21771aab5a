/** Ids are a prefix and base62 characters. Random parts come from the runtime's CSPRNG without modulo bias. */

export const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Largest multiple of 62 that fits a byte: bytes from here on are drawn again. */
const UNBIASED_BYTES = 248;

/** Random bytes are drawn in bulk, as a call of the CSPRNG costs more than the bytes; each is used once and wiped. */
const pool = new Uint8Array(1024);
let poolAt = pool.length;

function randomByte(): number {
  if (poolAt === pool.length) {
    crypto.getRandomValues(pool);
    poolAt = 0;
  }
  const byte = pool[poolAt] ?? 0;
  pool[poolAt++] = 0;
  return byte;
}

export function randomBase62(length: number): string {
  let out = "";
  while (out.length < length) {
    const byte = randomByte();
    if (byte < UNBIASED_BYTES) out += BASE62.charAt(byte % 62);
  }
  return out;
}

/** Characters of randomness behind the prefix; 12 base62 characters are 71 bits. */
export const ID_LENGTH = 12;

export type IdPrefix =
  | "usr"
  | "ws"
  | "proj"
  | "key"
  | "fam"
  | "inv"
  | "mail"
  | "view"
  | "board"
  | "dest"
  | "dlv"
  | "alert"
  | "grant";

export function newId(prefix: IdPrefix): string {
  return `${prefix}_${randomBase62(ID_LENGTH)}`;
}

export function isId(prefix: IdPrefix, text: string): boolean {
  const start = prefix.length + 1;
  return text.length === start + ID_LENGTH && text.startsWith(`${prefix}_`) && isBase62(text, start);
}

export function isBase62(text: string, from = 0): boolean {
  for (let i = from; i < text.length; i++) {
    if (!BASE62.includes(text[i] as string)) return false;
  }
  return true;
}

/** Non-negative safe integer to base62, most significant digit first. */
export function toBase62(value: number): string {
  let out = "";
  let rest = value;
  do {
    out = (BASE62[rest % 62] as string) + out;
    rest = Math.floor(rest / 62);
  } while (rest > 0);
  return out;
}

/** The inverse of `toBase62`; null for anything that it cannot have written. */
export function fromBase62(text: string): number | null {
  if (text === "" || !isBase62(text) || (text.length > 1 && text.startsWith("0"))) return null;
  let value = 0;
  for (const digit of text) {
    value = value * 62 + BASE62.indexOf(digit);
    if (value > Number.MAX_SAFE_INTEGER) return null;
  }
  return value;
}
