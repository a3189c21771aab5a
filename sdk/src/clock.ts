let last = 0;
let text = "";

/** ISO 8601 of a time. Many entries share a millisecond, and `toISOString` costs more than the rest of a small one. */
export function isoTime(ms: number): string {
  if (ms !== last) {
    last = ms;
    text = new Date(ms).toISOString();
  }
  return text;
}
