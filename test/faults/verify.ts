import type { FoundEntry, Receipt, SentBatch } from "./load.ts";

/** What is wrong with what a project holds, given all that was ever sent to it; empty when every promise was kept. */
export function problems(found: readonly FoundEntry[], batches: readonly SentBatch[]): string[] {
  const wrong: string[] = [];
  const seqs = found.map(({ seq }) => seq).sort((a, b) => a - b);
  const hole = seqs.findIndex((seq, i) => seq !== i + 1);
  if (hole >= 0) wrong.push(`seq ${seqs[hole]} stands where ${hole + 1} should`);
  const bySeq = new Map(found.map(({ seq, message }) => [seq, message]));
  const byMessage = new Map(found.map(({ seq, message }) => [message, seq]));
  if (byMessage.size !== found.length) wrong.push(`${found.length - byMessage.size} entries are there more than once`);
  let stored = 0;
  for (const { idempotencyKey, messages, receipt } of batches) {
    const firstSeq = receipt?.firstSeq ?? byMessage.get(messages[0] ?? "");
    if (firstSeq === undefined) {
      const some = messages.filter((message) => byMessage.has(message));
      if (some.length > 0)
        wrong.push(`batch ${idempotencyKey}: ${some.length} of ${messages.length} entries are there`);
      continue;
    }
    stored += messages.length;
    const lost = messages.filter((message, i) => bySeq.get(firstSeq + i) !== message);
    if (lost.length > 0)
      wrong.push(
        `batch ${idempotencyKey} at ${firstSeq}: ${lost.length} of ${messages.length} entries are not in their place`,
      );
  }
  if (stored !== found.length) wrong.push(`${found.length} entries are there, ${stored} were sent and stored`);
  return wrong;
}

/** What is wrong with the receipt of a batch sent again. `wasStored`: whether it was there before. */
export function retryProblems(batch: SentBatch, again: Receipt, wasStored: boolean): string[] {
  const { idempotencyKey: name, receipt, messages } = batch;
  const wrong: string[] = [];
  if (again.duplicate !== wasStored) wrong.push(`retry of ${name}: duplicate is ${again.duplicate}`);
  if (again.accepted !== messages.length)
    wrong.push(`retry of ${name}: ${again.accepted} accepted of ${messages.length}`);
  if (receipt) {
    const same = JSON.stringify({ ...again, duplicate: false }) === JSON.stringify({ ...receipt, duplicate: false });
    if (!same)
      wrong.push(`retry of ${name}: another receipt, ${JSON.stringify(again)} after ${JSON.stringify(receipt)}`);
  }
  return wrong;
}
