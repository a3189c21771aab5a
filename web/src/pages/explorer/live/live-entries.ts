import type { LogEntry } from "../../../model/types.ts";

/** Live entries above the list, newest first. */
export interface LiveEntries {
  entries: LogEntry[];
  /** Number of entries dropped because of the limit. */
  dropped: number;
  /** Number of last entries that arrived before the current load of the list began. Kept until it ends. */
  old: number;
}

/**
 * Adds entries above the others, and drops the oldest ones beyond a limit. One that is open stays: it would close while it is read.
 * @param arrived by rising `seq`
 * @param open ids of the open entries
 */
export function withArrived(
  { entries, dropped, old }: LiveEntries,
  arrived: readonly LogEntry[],
  open: readonly string[],
  limit: number,
): LiveEntries {
  const all = [...arrived.toReversed(), ...entries];
  const firstOld = all.length - old;
  const beyond = all.slice(limit);
  const read = beyond.filter(({ id }) => open.includes(id));
  const oldRead = all.slice(Math.max(limit, firstOld)).filter(({ id }) => open.includes(id));
  return {
    entries: [...all.slice(0, limit), ...read],
    dropped: dropped + beyond.length - read.length,
    old: Math.max(0, Math.min(limit, all.length) - firstOld) + oldRead.length,
  };
}
