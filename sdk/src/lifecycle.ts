import { runtime } from "#runtime";
import { FLUSH_MS } from "./limits.ts";
import { withTimeout } from "./safe.ts";
import type { Output } from "./transports/outputs.ts";
import type { FlushResult, LoggerMethods, LoggerStats } from "./types.ts";

/** Counts of entries before they reach an output. */
export type Counts = Pick<LoggerStats, "logged" | "sampledOut" | "filtered" | "dropped">;

/**
 * Creates the methods of a logger that count, flush and close its outputs.
 * @param endMs milliseconds for which a process with an empty event loop waits for deliveries
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
      // SAFETY: the counts of a queue are members of a logger's counts.
      for (const [name, count] of Object.entries(more)) all[name as keyof typeof all] += count;
    }
    return all;
  }

  /** Counts at the end of the last flush. */
  let last = stats();
  async function flush({ timeoutMs = FLUSH_MS }: { timeoutMs?: number } = {}, isEnd = false): Promise<FlushResult> {
    const before = last;
    await forAll(timeoutMs, (output) => output.flush?.(timeoutMs, isEnd));
    last = stats();
    return {
      delivered: last.delivered - before.delivered,
      dropped: last.dropped - before.dropped,
      pending: last.pending,
    };
  }

  /** Runs `work` for all outputs, waits at most `ms` milliseconds, and reports errors. */
  function forAll(ms: number, work: (output: Output) => unknown): Promise<void> {
    return withTimeout(ms, Promise.all(outputs.map((output) => (async () => work(output))().catch(report))));
  }

  let seenIdle = 0;
  const stopIdle = runtime.onIdle(() => {
    // Flushes once for the pending entries, and ends as soon as the destination is unreachable.
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
