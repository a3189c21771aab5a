/**
 * Characters that are not to be seen and change what is: controls but tab and line ends, marks and overrides of the
 * writing direction, separators without a width, and tags. Joiners stay, as emoji and several scripts are written with
 * them, and the few of these that are seen.
 */
const HIDDEN = /(?!\t|\n|\r|\u200c|\u200d|[\u0600-\u0605\u06dd\u070f\u08e2])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** A text of anybody's as it may be shown: what hides in it is spelled out, as JSON would. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (character) => {
    const code = character.codePointAt(0) ?? 0;
    const digits = code.toString(16).padStart(4, "0");
    return code > 0xffff ? `\\u{${digits}}` : `\\u${digits}`;
  });
}
