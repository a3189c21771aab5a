import type { DropReason, FlushResult } from "../types.ts";
import { type Batch, bytesOf, createPage, MAX_BYTES, type Reply } from "./page.ts";

export interface SenderOptions {
  url: string;
  size: number;
  flushInterval: number;
  maxRetries: number;
  maxQueueBytes: number;
  /** Milliseconds before a retry, by its number from 1. */
  wait(retry: number): number;
  error(error: Error): void;
  drop(lines: string[], reason: DropReason): void;
}

export interface Sender {
  push(line: string): void;
  flush(timeoutMs: number): Promise<FlushResult>;
  stats(): FlushResult;
}

/** A bounded queue before the proxy. */
export function createSender(options: SenderOptions): Sender {
  const { size, flushInterval, maxRetries, maxQueueBytes, wait, error: report } = options;
  const flushes = new Set<() => void>();
  let waiting: string[] = [];
  let waitingBytes = 0;
  let since = 0;
  /** Cut and not settled; those under way among them. */
  let batches: Batch[] = [];
  const underWay = new Set<Batch>();
  let pausedUntil = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delivered = 0;
  let dropped = 0;

  const page = createPage(options.url, {
    wake() {
      pausedUntil = 0;
      pump();
    },
    hidden() {
      since = 0;
      pump();
    },
    closing() {
      cut();
      send(true);
    },
    adopt(batch) {
      batches.push(batch);
      pump();
    },
    stale: (body) => drop(linesOf(body), "retries"),
  });

  function drop(lines: string[], reason: DropReason): void {
    dropped += lines.length;
    options.drop(lines, reason);
  }

  /** Everything that waits becomes batches, in the store until they are settled. */
  function cut(): void {
    let body = "";
    let bytes = 0;
    for (const line of waiting) {
      const more = bytesOf(line);
      if (bytes > 0 && bytes + more > MAX_BYTES) {
        add(body, bytes);
        body = "";
        bytes = 0;
      }
      body += line;
      bytes += more;
    }
    if (body) add(body, bytes);
    waiting = [];
    waitingBytes = 0;
  }

  function add(body: string, bytes: number): void {
    const batch = { id: page.nextId(), body, bytes, tries: 0 };
    batches.push(batch);
    page.keep(batch, 0);
  }

  function pump(): void {
    const now = Date.now();
    if (flushes.size > 0 || waiting.length >= size || waitingBytes > MAX_BYTES || now >= since + flushInterval) cut();
    if (batches.length + waiting.length === 0) {
      page.reserve(0);
      for (const done of flushes) done();
      return;
    }
    if (now >= pausedUntil) send(false);
    clearTimeout(timer);
    const isIdle = batches.length === underWay.size;
    if (!isIdle || waiting.length > 0) {
      timer = setTimeout(pump, Math.max(isIdle ? since + flushInterval - now : 0, pausedUntil - now, 50));
    }
  }

  function send(isClosing: boolean): void {
    if (navigator.onLine === false) return;
    for (const batch of batches) {
      if (underWay.has(batch)) continue;
      const answer = page.post(batch, isClosing);
      if (!answer) return;
      underWay.add(batch);
      page.keep(batch, Date.now());
      answer
        .then(
          (reply) => settle(batch, reply),
          (error: Error) => retry(batch, error, 0, navigator.onLine === false),
        )
        .catch(report)
        .then(pump);
    }
  }

  function settle(batch: Batch, { response, rejected }: Reply): void {
    const { status, headers, ok } = response;
    const lines = linesOf(batch.body);
    const error = new Error(`The proxy answered ${status}.`);
    if (status === 429 || status >= 500) {
      retry(batch, error, Number(headers.get("retry-after")) * 1000, status === 429);
      return;
    }
    let lost = lines;
    if (ok) {
      lost = rejected.flatMap(({ index }) => lines[index] ?? []);
      delivered += lines.length - lost.length;
    } else {
      report(error);
      if (status === 413 && lines.length > 1) {
        lost = [];
        const rest = lines.splice(lines.length >> 1);
        for (const half of [lines, rest]) add(half.join(""), bytesOf(half.join("")));
      }
    }
    if (lost.length > 0) drop(lost, status === 413 ? "too-large" : "rejected");
    over(batch);
  }

  /** @param isFree a pause the server asked for, or that the network is away for: no try is spent */
  function retry(batch: Batch, error: Error, ms: number, isFree: boolean): void {
    report(error);
    underWay.delete(batch);
    if (!isFree) batch.tries++;
    pausedUntil = Date.now() + (ms || wait(batch.tries || 1));
    if (batch.tries > maxRetries) {
      drop(linesOf(batch.body), "retries");
      over(batch);
    }
  }

  function over(batch: Batch): void {
    underWay.delete(batch);
    batches = batches.filter((one) => one !== batch);
    page.forget(batch);
    batch.settled?.();
  }

  function stats(): FlushResult {
    const pending = batches.reduce((sum, { body }) => sum + linesOf(body).length, waiting.length);
    return { delivered, dropped, pending };
  }

  return {
    stats,
    push(line) {
      const bytes = bytesOf(line);
      const all = batches.reduce((sum, batch) => sum + batch.bytes, waitingBytes + bytes);
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
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(deadline);
          flushes.delete(done);
          resolve();
        };
        const deadline = setTimeout(done, timeoutMs);
        flushes.add(done);
        pump();
      });
      const after = stats();
      return {
        delivered: after.delivered - before.delivered,
        dropped: after.dropped - before.dropped,
        pending: after.pending,
      };
    },
  };
}

function linesOf(body: string): string[] {
  return body.split(/(?<=\n)/);
}
