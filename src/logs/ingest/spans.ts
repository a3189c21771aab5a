const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * Bytes of each element of a JSON array as sent, white space around elements left out.
 * The text must be valid JSON. The array is the whole text (`arrayDepth` 0), or the value of a wrapper's only member
 * (`arrayDepth` 1). Where the wrapper names that member twice the last one counts, as it does for `JSON.parse`.
 */
export function elementSizes(json: Uint8Array, arrayDepth: 0 | 1): number[] {
  let sizes: number[] = [];
  let depth = 0;
  let start = -1;
  let end = -1;
  let inside = false;
  const close = () => {
    if (start >= 0) sizes.push(end - start + 1);
    start = -1;
  };
  for (let i = 0; i < json.length; i++) {
    const byte = json[i] ?? 0;
    if (byte <= 0x20) continue;
    const elementLevel = inside && depth === arrayDepth + 1;
    if (elementLevel && (byte === COMMA || byte === CLOSE_BRACKET)) {
      close();
      if (byte === CLOSE_BRACKET) {
        inside = false;
        depth--;
      }
      continue;
    }
    if (elementLevel && start < 0) start = i;
    if (byte === QUOTE) i = stringEnd(json, i);
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (!inside && byte === OPEN_BRACKET && depth === arrayDepth) {
        inside = true;
        sizes = [];
      }
      depth++;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
    end = i;
  }
  return sizes;
}

/** Index of the quote that ends the string that begins at `start`. */
function stringEnd(json: Uint8Array, start: number): number {
  for (let i = start + 1; ; ) {
    const quote = json.indexOf(QUOTE, i);
    if (quote < 0) return json.length;
    let slashes = 0;
    while (json[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
    i = quote + 1;
  }
}
