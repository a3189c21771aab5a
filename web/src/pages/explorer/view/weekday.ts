/** The browser's locale, and what is typed in English wherever. */
const LOCALES: readonly (string | undefined)[] = [undefined, "en-US"];

/** A Sunday, noon UTC. */
const SUNDAY = Date.UTC(2026, 10, 22, 12);
const DAY = 24 * 60 * 60 * 1000;
/** Letters that tell the days of a week apart: `mon`, `tues`. */
const FEWEST_LETTERS = 3;

/**
 * Reads the name of a day of the week, or its first letters.
 * @param text in lower case
 * @returns 0 for Sunday to 6; `null` for other texts
 */
export function weekdayOf(text: string, locales = LOCALES): number | null {
  const typed = text.replace(/\.$/, "");
  for (const locale of locales) {
    for (const weekday of ["long", "short"] as const) {
      const format = new Intl.DateTimeFormat(locale, { weekday, timeZone: "UTC" });
      for (let day = 0; day < 7; day++) {
        const name = format
          .format(SUNDAY + day * DAY)
          .toLowerCase()
          .replace(/\.$/, "");
        const isStart = weekday === "long" && typed.length >= FEWEST_LETTERS && name.startsWith(typed);
        if (name === typed || isStart) return day;
      }
    }
  }
  return null;
}
