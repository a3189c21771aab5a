/** A text as one word of a POSIX shell: inside single quotes it reads nothing into it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
