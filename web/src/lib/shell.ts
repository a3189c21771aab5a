/** Quotes a text as one word of a POSIX shell, without any expansion. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
