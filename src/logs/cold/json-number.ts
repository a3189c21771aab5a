const MINUS = 45;
const PLUS = 43;
const POINT = 46;
const ZERO = 48;
const LOWER_E = 101;

/** Any two decimals of so many digits are different numbers, so none of them has a shorter text. */
const SURE_DIGITS = 15;
/** Zeros behind the point of a number below one: with more of them it is written with an exponent. */
const MAX_LEADING_ZEROS = 5;

/** Reads JSON numbers out of bytes. */
export class JsonNumber {
  /** Behind the number. */
  next = 0;
  /** Whether its bytes are the shortest text that reads back as this number, as `String` writes it. */
  isShortest = true;

  /** @returns whether there is a number, which ends before `end` */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const isNegative = bytes[start] === MINUS;
    const first = isNegative ? start + 1 : start;
    let at = digitsEnd(bytes, first, end);
    const whole = at - first;
    const startsWithZero = bytes[first] === ZERO;
    if (whole === 0 || (startsWithZero && whole > 1)) return false;
    if (bytes[at] === POINT) {
      const fraction = at + 1;
      at = digitsEnd(bytes, fraction, end);
      if (at === fraction) return false;
      let zeros = 0;
      if (startsWithZero) while (zeros < at - fraction && bytes[fraction + zeros] === ZERO) zeros++;
      const digits = at - fraction - zeros + (startsWithZero ? 0 : whole);
      this.isShortest = digits <= SURE_DIGITS && zeros <= MAX_LEADING_ZEROS && bytes[at - 1] !== ZERO;
    } else {
      this.isShortest = whole <= SURE_DIGITS && !(isNegative && startsWithZero);
    }
    if (((bytes[at] ?? 0) | 0x20) === LOWER_E) {
      this.isShortest = false;
      at++;
      if (bytes[at] === PLUS || bytes[at] === MINUS) at++;
      const exponent = at;
      at = digitsEnd(bytes, exponent, end);
      if (at === exponent) return false;
    }
    this.next = at;
    return at < end;
  }
}

function digitsEnd(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const digit = (bytes[at] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    at++;
  }
  return at;
}
