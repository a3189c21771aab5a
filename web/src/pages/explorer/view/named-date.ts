import type { WallTime } from "../../../lib/wall-time.ts";

/** Dates with the name of a month, in the forms in which the console shows them: `Nov 27`, `27. Nov. 2026`, `11月27日`. */

type MonthAndDay = Pick<WallTime, "month" | "day">;

/** The browser's locale, and what is typed in English wherever. */
const LOCALES: readonly (string | undefined)[] = [undefined, "en-US", "en-GB"];

const FORMS: readonly Intl.DateTimeFormatOptions[] = [
  { dateStyle: "medium" },
  { dateStyle: "long" },
  { day: "numeric", month: "short" },
  { day: "numeric", month: "long" },
];

interface Form {
  pattern: RegExp;
  months: ReadonlyMap<string, number>;
}

const forms = new Map<string | undefined, readonly Form[]>();

/**
 * Writes the date at the start of a text as `2026-11-27`; returns other texts unchanged.
 * @param text in lower case, with single spaces
 * @param after the day from which a date without a year is the next one; `null`: it is the last one until today
 */
export function withPlainDate(
  text: string,
  today: MonthAndDay & { year: number },
  after: (MonthAndDay & { year: number }) | null,
  locales = LOCALES,
): string {
  for (const { pattern, months } of locales.flatMap(formsOf)) {
    const { year, month, day, rest = "" } = pattern.exec(text)?.groups ?? {};
    if (month === undefined || day === undefined) continue;
    const found = { month: months.get(month) ?? Number(month), day: Number(day) };
    const two = (value: number): string => String(value).padStart(2, "0");
    const date = `${year ?? yearOf(found, today, after)}-${two(found.month)}-${two(found.day)}`;
    return rest === "" ? date : `${date} ${rest}`;
  }
  return text;
}

function yearOf(date: MonthAndDay, today: MonthAndDay & { year: number }, after: typeof today | null): number {
  const place = ({ month, day }: MonthAndDay): number => month * 100 + day;
  if (after !== null) return place(date) < place(after) ? after.year + 1 : after.year;
  return place(date) > place(today) ? today.year - 1 : today.year;
}

function formsOf(locale: string | undefined): readonly Form[] {
  const known = forms.get(locale) ?? FORMS.map((options) => formOf(locale, options));
  forms.set(locale, known);
  return known;
}

function formOf(locale: string | undefined, options: Intl.DateTimeFormatOptions): Form {
  const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC", numberingSystem: "latn" });
  const months = new Map<string, number>();
  for (let month = 1; month <= 12; month++) {
    const parts = format.formatToParts(Date.UTC(2026, month - 1, 27));
    const name = parts.find(({ type }) => type === "month")?.value.toLowerCase() ?? "";
    if (/^\d*$/.test(name)) continue;
    months.set(name, month);
    const bare = name.replace(/\.$/, "");
    months.set(bare, month);
    // `Sept` of British English.
    if (bare.length === 4 && /^[a-z]+$/.test(bare)) months.set(bare.slice(0, 3), month);
  }
  const names = [...months.keys()].sort((a, b) => b.length - a.length).map(escaped);
  const PARTS: Readonly<Record<string, string>> = {
    day: "(?<day>\\d{1,2})",
    month: `(?<month>${names.length === 0 ? "\\d{1,2}" : names.join("|")})`,
    year: "(?<year>\\d{4})",
  };
  const date = format
    .formatToParts(Date.UTC(2026, 10, 27))
    .map(({ type, value }) => PARTS[type] ?? lenient(value.toLowerCase()))
    .join("");
  return {
    pattern: new RegExp(`^${date}(?:$|,? ?(?:(?:at|um|à|a las|às|alle) )?(?=[\\d])(?<!\\d)(?<rest>.+)$)`),
    months,
  };
}

/** A pattern of the text between two parts of a date, whose dots, commas and spaces may be missing. */
function lenient(literal: string): string {
  return [...literal.replaceAll(/\s+/g, " ")]
    .map((each) => (each === "." || each === "," ? `${escaped(each)}?` : each === " " ? " ?" : escaped(each)))
    .join("");
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
