import { runtime } from "#runtime";
import { FLUSH_MS } from "./limits.ts";
import { within } from "./safe.ts";
import type { Output } from "./transports/outputs.ts";
import type { FlushResult, LoggerMethods, LoggerStats } from "./types.ts";

/** What became of entries before they reached an output. */
export type Counts = Pick<LoggerStats, "logged" | "sampledOut" | "filtered" | "dropped">;

/**
 * What a logger tells of its outputs, and how it waits for them and ends.
 * @param endMs milliseconds that a process with nothing left to do waits at most
 */
export function createLifecycle(
  outputs: readonly Output[],
  counts: Counts,
  report: (error: unknown) => void,
  endMs: number = FLUSH_MS,
): Pick<LoggerMethods, "stats" | "flush" | "close"> {
  function stats(): LoggerStats {
    const all = { delivered: 0, pending: 0, pendingBytes: 0, requests: 0, retries: 0, spooled: 0, ...counts };
    for (const { queue } of outputs) {
      const more: Partial<LoggerStats> = queue?.stats() ?? { delivered: counts.logged };
      // SAFETY: a queue's counts are some of a logger's.
      for (const [name, count] of Object.entries(more)) all[name as keyof typeof all] += count;
    }
    return all;
  }

  async function flush({ timeoutMs = FLUSH_MS }: { timeoutMs?: number } = {}, isEnd = false): Promise<FlushResult> {
    const before = stats();
    await forAll(timeoutMs, (output) => output.flush?.(timeoutMs, isEnd));
    const { delivered, dropped, pending } = stats();
    return { delivered: delivered - before.delivered, dropped: dropped - before.dropped, pending };
  }

  /** Waits for all outputs, but not for ever; a failure is reported. */
  function forAll(ms: number, work: (output: Output) => unknown): Promise<void> {
    return within(ms, Promise.all(outputs.map((output) => (async () => work(output))().catch(report))));
  }

  let seenIdle = 0;
  const stopIdle = runtime.onIdle(() => {
    // Once for what is there, and no longer than until the destination turns out to be away.
    if (counts.logged > seenIdle && stats().pending > 0) flush({ timeoutMs: endMs }, true);
    seenIdle = counts.logged;
  });

  return {
    stats,
    flush: (limits) => flush(limits),
    async close({ timeoutMs = FLUSH_MS } = {}) {
      for (const { queue } of outputs) queue?.close();
      const result = await flush({ timeoutMs });
      await forAll(timeoutMs, (output) => output.close?.());
      stopIdle();
      return result;
    },
  };
}
