const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Finds the end of a JSON value that arrives in chunks. It looks at strings and brackets only, each byte once. */
export class ValueScan {
  /** The deepest nesting so far. */
  depth = 0;
  #open = 0;
  #isString = false;
  #isEscaped = false;
  #isScalar = false;
  #isBegun = false;

  begin(): void {
    this.depth = 0;
    this.#open = 0;
    this.#isString = false;
    this.#isEscaped = false;
    this.#isScalar = false;
    this.#isBegun = false;
  }

  /** @returns the index after the value; -1 if it has not ended before `to` */
  scan(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    if (!this.#isBegun) {
      if (at >= to) return -1;
      this.#isBegun = true;
      const first = bytes[at] ?? 0;
      this.#isScalar = first !== QUOTE && first !== OPEN_BRACE && first !== OPEN_BRACKET;
    }
    if (this.#isScalar) {
      while (at < to) {
        if (endsScalar(bytes[at] ?? 0)) return at;
        at++;
      }
      return -1;
    }
    let open = this.#open;
    while (at < to) {
      if (this.#isString) {
        at = this.#endOfString(bytes, at, to);
        if (this.#isString) break;
        if (open === 0) return at;
      }
      for (let byte = 0; at < to; ) {
        byte = bytes[at++] ?? 0;
        if (byte === QUOTE) {
          this.#isString = true;
          break;
        }
        if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
          open++;
          if (open > this.depth) this.depth = open;
        } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
          open--;
          if (open === 0) return at;
        }
      }
    }
    this.#open = open;
    return -1;
  }

  #endOfString(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    if (this.#isEscaped && at < to) {
      at++;
      this.#isEscaped = false;
    }
    while (at < to) {
      const byte = bytes[at++] ?? 0;
      if (byte === QUOTE) {
        this.#isString = false;
        return at;
      }
      if (byte !== BACKSLASH) continue;
      if (at < to) at++;
      else this.#isEscaped = true;
    }
    return at;
  }
}

function endsScalar(byte: number): boolean {
  return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20;
}
