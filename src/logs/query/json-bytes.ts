/** Reads JSON in its bytes, without creating values. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const LETTER_U = 0x75;
const ASCII_END = 0x80;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const ONE = 0x31;
const NINE = 0x39;
const LETTER_E = 0x65;

/** 1 for a byte that ends a string or needs decoding: quote, backslash, control characters, bytes outside ASCII. */
const SPECIAL = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte >= ASCII_END ? 1 : 0,
);
const HEX = Uint8Array.from({ length: 256 }, (_, byte) => (/[0-9a-fA-F]/.test(String.fromCharCode(byte)) ? 1 : 0));
const SHORT_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** Finds and decodes the JSON strings of a line in its bytes. */
export class JsonStrings {
  /** Whether the last string that `endOf` found is ASCII. */
  isAscii = true;

  /**
   * @param at index after the opening quote
   * @param end of the line
   * @returns the index of the closing quote; -1 if there is no string that `JSON.parse` would accept
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

  /** Decodes the text between two quotes that `endOf` has found. */
  decoded(raw: Buffer, from: number, to: number): string {
    const written = raw.toString("utf8", from, to);
    if (!written.includes("\\")) return written;
    // SAFETY: `endOf` has found a JSON string there.
    return JSON.parse(`"${written}"`) as string;
  }
}

/** @returns the index after a JSON number; negative if there is none */
export function numberEnd(raw: Uint8Array, from: number): number {
  let at = raw[from] === MINUS ? from + 1 : from;
  const first = raw[at] ?? 0;
  if (first === ZERO) at++;
  else if (first >= ONE && first <= NINE) at = digitsEnd(raw, at);
  else return -1;
  if (raw[at] === DOT) {
    const end = digitsEnd(raw, at + 1);
    if (end === at + 1) return -1;
    at = end;
  }
  if (((raw[at] ?? 0) | 0x20) === LETTER_E) {
    const sign = raw[at + 1];
    const digits = sign === MINUS || sign === PLUS ? at + 2 : at + 1;
    const end = digitsEnd(raw, digits);
    if (end === digits) return -1;
    at = end;
  }
  return at;
}

/** The line break after a line ends every run of digits, and so does the end of the bytes. */
function digitsEnd(raw: Uint8Array, from: number): number {
  let at = from;
  for (let byte = raw[at] ?? 0; byte >= ZERO && byte <= NINE; byte = raw[at] ?? 0) at++;
  return at;
}

/** Stored lines are at most 33 deep. Deeper objects share the last level. */
const LEVELS = 64;
/** Bits of the index in the table of known names. */
const TABLE_BITS = 14;
/**
 * Work units of a member with a name that no object had behind the same names before, for which V8 makes a new hidden
 * class, and of a member of an object that has so many that V8 keeps it in another form.
 */
const NEW_NAME_WORK = 600;
const WIDE_MEMBER_WORK = 130;
const NARROW_MEMBERS = 100;

/**
 * Counts what `JSON.parse` takes for the members of objects besides their bytes. Objects with the names of an earlier one take nothing more:
 * ordinary lines do. A line of thousands of new names takes up to ten times as long for a byte.
 */
export class ObjectWork {
  /** Random start and factor of the hashes: clients choose the names, and could otherwise choose many with the same hash. */
  readonly #start: number;
  readonly #factor: number;
  /** Hashes of names with those before them in their objects. Each line replaces what has the same index. */
  #known: Int32Array | null = null;
  /** Of the objects around the current one, by level: the hash of the names so far, and their number. */
  readonly #hashes = new Int32Array(LEVELS);
  readonly #counts = new Int32Array(LEVELS);

  constructor() {
    const [start = 0, factor = 0] = crypto.getRandomValues(new Int32Array(2));
    this.#start = start;
    // An even factor would lose bits of the names.
    this.#factor = factor | 1;
  }

  /** Returns the work units of the objects in JSON. @param start,end of valid JSON, or of members of an object */
  of(raw: Uint8Array, start: number, end: number): number {
    this.#known ??= new Int32Array(1 << TABLE_BITS);
    const known = this.#known;
    const hashes = this.#hashes;
    const counts = this.#counts;
    let work = 0;
    let level = 0;
    const factor = this.#factor;
    let hash = this.#start;
    let count = 0;
    let at = start;
    while (at < end) {
      const byte = raw[at++];
      if (byte === QUOTE) {
        let inner = hash;
        for (let letter = raw[at++]; letter !== QUOTE && at < end; letter = raw[at++]) {
          if (letter === BACKSLASH) at++;
          else inner = Math.imul(inner ^ (letter ?? 0), factor);
        }
        if (raw[at] !== COLON) continue;
        // The quote separates names: "a", "b" is not "ab".
        hash = Math.imul(inner ^ QUOTE, factor);
        count++;
        const slot = hash >>> (32 - TABLE_BITS);
        if (known[slot] !== hash) work += NEW_NAME_WORK;
        else if (count > NARROW_MEMBERS) work += WIDE_MEMBER_WORK;
        known[slot] = hash;
        // The value of a member is no name.
        if (raw[++at] !== QUOTE) continue;
        for (let letter = raw[++at]; letter !== QUOTE && at < end; letter = raw[++at]) if (letter === BACKSLASH) at++;
        at++;
      } else if (byte === OPEN_BRACE) {
        hashes[level] = hash;
        counts[level] = count;
        level = Math.min(level + 1, LEVELS - 1);
        hash = this.#start;
        count = 0;
      } else if (byte === CLOSE_BRACE && level > 0) {
        level--;
        hash = hashes[level] ?? this.#start;
        count = counts[level] ?? 0;
      }
    }
    return work;
  }
}
