/** Units of time, the largest first: a letter, as queries and addresses have it, a name and milliseconds. */
export const UNITS = [
  { letter: "w", name: "week", ms: 604_800_000 },
  { letter: "d", name: "day", ms: 86_400_000 },
  { letter: "h", name: "hour", ms: 3_600_000 },
  { letter: "m", name: "minute", ms: 60_000 },
  { letter: "s", name: "second", ms: 1000 },
] as const;

export function unitOf(letter: string | undefined): (typeof UNITS)[number] | undefined {
  return UNITS.find((unit) => unit.letter === letter);
}
