let last = 0;
let text = "";

/** Returns a time in ISO 8601. Cached, because many entries share a millisecond and `toISOString` is slow. */
export function isoTime(ms: number): string {
  if (ms !== last) {
    last = ms;
    text = new Date(ms).toISOString();
  }
  return text;
}
