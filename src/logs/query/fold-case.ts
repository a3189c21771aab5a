/** Characters from which a text is folded once for tests that follow each other. */
const LONG_TEXT = 256;

/** The last long text, and what it is folded. Module state: hundreds of tests of one query fold the same text. */
let lastText = "";
let lastFolded = "";

/**
 * Returns text as `search` compares it: in lower case. Sigma has two lower case forms, and `toLowerCase` chooses by the
 * letters around it. With one form, a part of a word is a part of the folded word.
 */
export function foldCase(text: string): string {
  if (text.length < LONG_TEXT) return folded(text);
  if (text !== lastText) {
    lastFolded = folded(text);
    lastText = text;
  }
  return lastFolded;
}

function folded(text: string): string {
  return text.toLowerCase().replaceAll("\u03c2", "\u03c3");
}
