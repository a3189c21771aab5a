/**
 * Text as `search` compares it: in lower case. Sigma has two small forms, and which one `toLowerCase` gives depends on the
 * letters around it; as one form, a part of a word is a part of the folded word.
 */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll("\u03c2", "\u03c3");
}
