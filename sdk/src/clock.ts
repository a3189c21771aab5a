let second = 0;
let prefix = "";
let last = 0;
let text = "";

/** ISO 8601 of a time, from the text of its second: `toISOString` costs more than the rest of a small entry. */
export function isoTime(ms: number): string {
  if (ms === last) return text;
  last = ms;
  const whole = Math.floor(ms / 1000);
  if (whole !== second || prefix === "") {
    second = whole;
    prefix = new Date(whole * 1000).toISOString().slice(0, -4);
  }
  const rest = Math.floor(ms - whole * 1000);
  text = `${prefix}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}Z`;
  return text;
}
