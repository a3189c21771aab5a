/** Formats a time for a local time input: `2026-11-20T14:05:00`, with milliseconds unless they are zero; empty for `null`. */
export function localText(at: string | number | null): string {
  if (at === null) return "";
  const date = new Date(at);
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return local
    .toISOString()
    .replace("Z", "")
    .replace(/\.000$/, "");
}

/** Returns the value of a local time input as ISO 8601; `null` if it has none. */
export function isoOfLocal(local: string): string | null {
  const ms = Date.parse(local);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
