/** Formats a length of time with about three digits: `4.16 s`. From 10 hours on minutes are multiples of 5. */
export function lengthText(ms: number): string {
  if (ms === 0) return "0 ms";
  if (ms < 0.001) return `${digits(ms * 1e6)} ns`;
  if (ms < 1) return `${digits(ms * 1000)} µs`;
  if (ms < 1000) return `${digits(ms)} ms`;
  if (ms < 60_000) return `${digits(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600)
    return [`${Math.floor(seconds / 60)} min`, ...(seconds % 60 === 0 ? [] : [`${seconds % 60} s`])].join(" ");
  const minutes = Math.round(seconds / 60);
  if (minutes < 48 * 60) {
    const shown = minutes < 600 ? minutes : Math.round(minutes / 5) * 5;
    return [`${Math.floor(shown / 60)} h`, ...(shown % 60 === 0 ? [] : [`${shown % 60} min`])].join(" ");
  }
  return `${Math.round(minutes / 60 / 24)} days`;
}

const DIGITS = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 3 });

function digits(value: number): string {
  return DIGITS.format(value);
}
