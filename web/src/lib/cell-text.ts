import { visible } from "./visible.ts";
import { timeFormat } from "./zone.ts";

const MOMENT = timeFormat({ dateStyle: "medium", timeStyle: "medium" });

/** Made once: a table of a thousand rows would make one for each number, which takes longer than all else. */
const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 });

/** Characters of a cell, and those of a cell that is not broken into lines. */
const CELL = 300;
export const LINE = 40;

export function cellText(value: unknown, type: string): string {
  if (value === null || value === undefined) return "–";
  if (type === "time" && typeof value === "string") return MOMENT(new Date(value));
  if (typeof value === "number") return NUMBER.format(value);
  const text = visible(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > CELL ? `${text.slice(0, CELL)}…` : text;
}
