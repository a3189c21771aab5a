/**
 * Invisible characters that change the displayed text: control characters except tab and line breaks, direction marks
 * and overrides, zero-width separators, and tags. Excludes joiners, which emoji and several scripts need, and visible
 * format characters.
 */
const HIDDEN = /(?!\t|\n|\r|\u200c|\u200d|[\u0600-\u0605\u06dd\u070f\u08e2])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Most texts: faster than the test for each hidden character. */
const PLAIN = /^[\t\n\r -~]*$/;

/** Escapes invisible characters in untrusted text, like JSON. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16).padStart(4, "0");
    return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
  });
}
