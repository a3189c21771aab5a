import { maybe } from "../../platform/sql.ts";

/** Mails of one destination in any hour. What exceeds them is not mailed, and the next mail says so. */
export const MAILS_AN_HOUR = 30;
const HOUR_MS = 60 * 60 * 1000;

/**
 * Counts a mail to a destination, in the caller's transaction.
 * @returns how many notifications were left out since the last mail; `null` if this one must be left out, too
 */
export function admitMail(sql: SqlStorage, destination: string, now: number): number | null {
  const row = maybe<{ times: string; left: number }>(
    sql,
    "SELECT mail_times AS times, mails_left_out AS left FROM destinations WHERE id = ?",
    destination,
  );
  if (row === null) return 0;
  // SAFETY: only this function writes times. A time ahead is of a clock that was set back.
  const times = (JSON.parse(row.times) as number[]).filter((time) => time > now - HOUR_MS && time <= now);
  if (times.length >= MAILS_AN_HOUR) {
    sql.exec("UPDATE destinations SET mails_left_out = mails_left_out + 1 WHERE id = ?", destination);
    return null;
  }
  sql.exec("UPDATE destinations SET mail_times = ? WHERE id = ?", JSON.stringify([...times, now]), destination);
  return row.left;
}

/** Records that a mail has said how many were left out. */
export function leftOutReported(sql: SqlStorage, destination: string, count: number): void {
  sql.exec("UPDATE destinations SET mails_left_out = MAX(0, mails_left_out - ?) WHERE id = ?", count, destination);
}
