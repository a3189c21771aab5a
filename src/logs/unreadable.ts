/** What is stored is not what was put in. The message names it, never what it holds. */
export class UnreadableItem extends Error {}

/**
 * Told of what a reader had to leave out, so that whoever runs the service learns of it: nobody can read it any more, and
 * all the rest can be read.
 * @param entries how many it held
 */
export type ReportUnreadable = (fault: Error, entries: number) => void;

/** Entries of a project whose lines are not what was put in. */
export function reportEntries(report: ReportUnreadable, projectId: string, seqs: readonly number[]): void {
  if (seqs.length === 0) return;
  const fault = `Stored lines of ${projectId} are no entries: ${seqs.length}, the first of them seq ${seqs[0]}.`;
  report(new UnreadableItem(fault), seqs.length);
}
