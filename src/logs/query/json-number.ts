const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const ZERO = 0x30;
const ONE = 0x31;
const NINE = 0x39;
const LETTER_E = 0x65;

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
