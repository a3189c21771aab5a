/**
 * Returns text as `search` compares it: in lower case. Sigma has two lower case forms, and `toLowerCase` chooses by the
 * letters around it. With one form, a part of a word is a part of the folded word.
 */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll("\u03c2", "\u03c3");
}
