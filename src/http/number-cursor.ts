import { refuseFields } from "./errors.ts";

/** Where a list that goes down by number goes on: before this one. Null for the newest; 400 for what no page gave. */
export function numberCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  return refuseFields([{ path: "query.cursor", code: "invalid_format", message: "No page gave this cursor." }]);
}
