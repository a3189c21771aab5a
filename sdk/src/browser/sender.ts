import { bytesOf, within } from "../safe.ts";
import type { BatchOptions, DropReason, FlushResult } from "../types.ts";
import { type Batch, createPage, MAX_BYTES } from "./page.ts";

export interface Sender {
  push(line: string): void;
  flush(timeoutMs: number): Promise<FlushResult>;
  stats(): FlushResult;
}

/**
 * A bounded queue before the proxy.
 * @throws TypeError for numbers that are wrong
 */
export function createSender(
  url: string,
  batch: BatchOptions,
  report: (error: Error) => void,
  onDrop: (lines: string[], reason: DropReason) => void,
): Sender {
  const { size = 50, flushInterval = 5000, maxRetries = 3, backoffBase = 1000, maxQueueBytes = 1_048_576 } = batch;
  const { backoff } = batch;
  if ([size, flushInterval, maxRetries, backoffBase, maxQueueBytes].some((number) => !(number >= 0))) {
    throw new TypeError("taffrail: wrong batch number");
  }
  let waiting: string[] = [];
  let waitingBytes = 0;
  let since = 0;
  /** Cut and not settled; those under way among them. */
  const batches = new Set<Batch>();
  let flushes = 0;
  let pausedUntil = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delivered = 0;
  let dropped = 0;

  const page = createPage(
    url,
    (turn) => {
      // What waits for its time goes where nobody may see the page again; what waits for the network, where that is back.
      if (turn === "back") pausedUntil = 0;
      else since = 0;
      pump(turn === "closing");
    },
    (batch, isStale) => {
      batches.add(batch);
      if (isStale) end(batch, "retries");
      pump();
    },
  );

  function drop(lines: string[], reason: DropReason): void {
    dropped += lines.length;
    if (lines.length > 0) onDrop(lines, reason);
  }

  /** A batch is over, and these lines of it are lost. */
  function end(batch: Batch, reason: DropReason, lost: string[] = linesOf(batch)): void {
    drop(lost, reason);
    batches.delete(batch);
    page.forget(batch);
    batch.settle();
  }

  /** Everything that waits becomes batches, in the store until they are settled. */
  function cut(): void {
    let from = 0;
    let bytes = 0;
    waiting.forEach((line, i) => {
      const more = bytesOf(line);
      if (bytes > 0 && bytes + more > MAX_BYTES) {
        add(waiting.slice(from, i));
        from = i;
        bytes = 0;
      }
      bytes += more;
    });
    add(waiting.slice(from));
    waiting = [];
    waitingBytes = 0;
  }

  function add(lines: string[]): void {
    if (lines.length > 0) batches.add(page.made(lines.join("")));
  }

  function pump(isClosing = false): void {
    const now = Date.now();
    if (flushes > 0 || waiting.length >= size || waitingBytes > MAX_BYTES || now >= since + flushInterval) cut();
    if (isClosing || now >= pausedUntil) send(isClosing);
    clearTimeout(timer);
    const isIdle = [...batches].every(({ isSent }) => isSent);
    if (batches.size + waiting.length === 0) page.reserve(0);
    else if (!isIdle || waiting.length > 0) {
      // Eleven days: from 2 ** 31 on timers go off at once.
      timer = setTimeout(
        pump,
        Math.min(Math.max(isIdle ? since + flushInterval - now : 0, pausedUntil - now, 50), 1e9),
      );
    }
  }

  function send(isClosing: boolean): void {
    for (const batch of batches) {
      if (batch.isSent) continue;
      const answer = navigator.onLine !== false && page.post(batch, isClosing);
      if (!answer) return;
      answer
        .then(
          async (response) => settle(batch, response, await response.json().catch(() => ({}))),
          (error: Error) => retry(batch, error, 0, navigator.onLine === false),
        )
        .catch(report)
        .then(() => pump());
    }
  }

  function settle(batch: Batch, { status, headers, ok }: Response, answer: Answer): void {
    const lines = linesOf(batch);
    const error = new Error(`The proxy answered ${status}.`);
    if (!ok) {
      if (status === 429 || status >= 500) {
        retry(batch, error, Number(headers.get("retry-after")) * 1000, status === 429);
        return;
      }
      report(error);
    }
    const isSplit = status === 413 && lines.length > 1;
    if (isSplit) {
      const rest = lines.splice(lines.length >> 1);
      add(lines.splice(0));
      add(rest);
    }
    const lost = ok ? (answer.data?.rejected ?? []).flatMap(({ index }) => lines[index] ?? []) : lines;
    delivered += ok ? lines.length - lost.length : 0;
    end(batch, status === 413 ? "too-large" : "rejected", lost);
  }

  /** @param isFree a pause the server asked for, or that the network is away for: no try is spent */
  function retry(batch: Batch, error: Error, ms: number, isFree: boolean): void {
    report(error);
    batch.isSent = false;
    if (!isFree) batch.tries++;
    pausedUntil = Date.now() + (ms || waitOf(batch.tries || 1));
    if (batch.tries > maxRetries) end(batch, "retries");
  }

  /** Milliseconds before a retry, by its number from 1. */
  function waitOf(retry: number): number {
    if (typeof backoff === "function") return backoff(retry);
    const step = backoff === "fixed" ? 1 : backoff === "linear" ? retry : 2 ** (retry - 1);
    return backoffBase * step * (1 + Math.random());
  }

  async function drained(): Promise<void> {
    // Those that are added meanwhile too.
    for (const batch of batches) await batch.done;
  }

  function stats(): FlushResult {
    let pending = waiting.length;
    for (const batch of batches) pending += linesOf(batch).length;
    return { delivered, dropped, pending };
  }

  return {
    stats,
    push(line) {
      const bytes = bytesOf(line);
      let all = waitingBytes + bytes;
      for (const batch of batches) all += batch.bytes;
      if (all > maxQueueBytes) {
        drop([line], "queue-full");
        return;
      }
      if (waiting.push(line) === 1) since = Date.now();
      waitingBytes += bytes;
      page.reserve(all);
      // At the end of the caller's turn, so that a burst travels together.
      if (waiting.length === 1 || waiting.length === size) queueMicrotask(pump);
    },
    async flush(timeoutMs) {
      const before = stats();
      flushes++;
      pump();
      await within(timeoutMs, drained());
      flushes--;
      const { delivered, dropped, pending } = stats();
      return { delivered: delivered - before.delivered, dropped: dropped - before.dropped, pending };
    },
  };
}

interface Answer {
  data?: { rejected?: readonly { index: number }[] };
}

function linesOf({ body }: Batch): string[] {
  return body.split(/(?<=\n)/);
}
