import { decodeText } from "../serialize.ts";
import type { DropReason, LogEntry } from "../types.ts";
import { createLineBuffer, joined } from "./buffer.ts";

/** The longest wait, whatever a server asks for: an hour. */
const MAX_WAIT_MS = 3_600_000;

export interface QueueOptions {
  /** Entries that start a delivery, and the most that one takes. */
  size: number;
  maxEntries: number;
  /** Bytes of one delivery, unless one entry alone is larger. */
  maxBody: number;
  maxQueueBytes: number;
  flushInterval: number;
  concurrency: number;
  maxRetries: number;
  /** Milliseconds before a retry, by its number from 1. */
  wait(retry: number): number;
  /** Milliseconds after which a delivery has failed even if nothing was heard of it; its own limit comes first. */
  timeout: number;
  isRepeatable: boolean;
}

/** How a delivery ended. Indexes count the delivery's entries from 0. */
export type Outcome =
  | { kind: "delivered"; rejected: readonly number[]; gap?: number; error?: Error }
  /** Worth another try, after `wait` ms if that is known; a `pause` the server asked for spends no retry. */
  | { kind: "retry" | "pause"; wait?: number | undefined; newId?: boolean; error: Error }
  | { kind: "split"; error: Error }
  /** Refused for the entries named; without any, for all of them. */
  | { kind: "refused"; rejected: readonly number[]; error: Error };

/** What is delivered together: NDJSON that never changes, under an id that a repetition keeps. */
export interface Delivery {
  id: string;
  body: Uint8Array;
  count: number;
}

export type Deliver = (delivery: Delivery) => Promise<Outcome>;

export interface QueueEvents {
  error(error: Error): void;
  drop(entries: () => LogEntry[], count: number, reason: DropReason): void;
}

export interface QueueStats {
  delivered: number;
  dropped: number;
  pending: number;
  pendingBytes: number;
  requests: number;
  retries: number;
}

export interface Queue {
  /** Whether the destination takes a delivery of the same id only once. */
  readonly isRepeatable: boolean;
  /** Takes a line; it is copied. */
  push(line: Uint8Array, level: number, now: number): void;
  /** Settles when all that waits now is delivered or dropped, or at the deadline. */
  flush(timeoutMs: number): Promise<void>;
  close(): void;
  stats(): QueueStats;
  /** All that is not delivered yet, for a process about to end. */
  pending(): Delivery[];
  /** Takes over what another process left. `settled` is called once it is delivered, refused, or out of retries. */
  adopt(delivery: Delivery, settled: (isOver: boolean) => void): void;
}

interface Batch extends Delivery {
  /** Of batches made from one, all have its number. */
  order: number;
  tries: number;
  startedAt: number;
  settled?: ((isOver: boolean) => void) | undefined;
}

/** A bounded queue before something that may be slow, pause or fail. */
export function createQueue(options: QueueOptions, deliver: Deliver, events: QueueEvents): Queue {
  const { size, maxEntries, maxBody, maxQueueBytes, flushInterval, concurrency, maxRetries, wait, timeout } = options;
  const waiting = createLineBuffer();
  /** Cut and not under way, oldest first. */
  let ready: Batch[] = [];
  const underWay = new Set<Batch>();
  const flushes = new Set<{ order: number; done: () => void }>();
  let cutBytes = 0;
  let cutEntries = 0;
  let order = 0;
  let ids = "";
  let idCount = 0;
  let pausedUntil = 0;
  /** After a failure one delivery at a time asks whether the destination is back. */
  let failing = false;
  let gap = 0;
  let lastStart = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let timerAt = 0;
  let isPumpQueued = false;
  let isClosed = false;
  let delivered = 0;
  let dropped = 0;
  let requests = 0;
  let retries = 0;

  function nextId(): string {
    // Made at first use: some platforms have no randomness before the first request.
    ids ||= crypto.randomUUID();
    return `${ids}-${(idCount++).toString(36)}`;
  }

  function drop(lines: () => Uint8Array[], count: number, reason: DropReason): void {
    dropped += count;
    events.drop(() => lines().map((line): LogEntry => JSON.parse(decodeText(line))), count, reason);
  }

  function push(line: Uint8Array, level: number, now: number): void {
    if (isClosed) {
      drop(() => [line], 1, "closed");
      return;
    }
    while (waiting.bytes + cutBytes + line.length > maxQueueBytes) {
      const evicted = waiting.evict(level);
      if (!evicted) {
        drop(() => [line], 1, "queue-full");
        return;
      }
      drop(() => [evicted], 1, "queue-full");
    }
    waiting.add(line, level, now);
    if (isFull()) {
      if (!isPumpQueued && (isOpen(now) || isLost(now))) {
        isPumpQueued = true;
        // At the end of the caller's turn, so that a burst travels together.
        queueMicrotask(pump);
      }
    } else if (timerAt === 0 || isLost(now)) {
      schedule();
    }
  }

  function isFull(): boolean {
    return waiting.count >= size || waiting.bytes >= maxBody;
  }

  function isOpen(now: number): boolean {
    return underWay.size < (failing ? 1 : concurrency) && now >= pausedUntil;
  }

  /** Timers and requests vanish where a platform ends them with the request they were made in, or while a machine sleeps. */
  function isLost(now: number): boolean {
    return timerAt !== 0 && now > timerAt + timeout;
  }

  function pump(): void {
    isPumpQueued = false;
    const now = Date.now();
    for (const batch of underWay) {
      if (now - batch.startedAt > 2 * timeout) {
        settle(batch, batch.startedAt, { kind: "retry", error: new Error("Nothing was heard of a request.") });
      }
    }
    while (isOpen(now) && (flushes.size > 0 || now >= lastStart + gap)) {
      const isDue = isFull() || flushes.size > 0 || now >= waiting.since + flushInterval;
      const batch = ready.shift() ?? (waiting.count > 0 && isDue ? cut() : undefined);
      if (!batch) break;
      start(batch, now);
    }
    schedule();
  }

  function cut(): Batch {
    const batch = { ...waiting.take(maxEntries, maxBody), id: nextId(), order: order++, tries: 0, startedAt: 0 };
    cutBytes += batch.body.length;
    cutEntries += batch.count;
    return batch;
  }

  /** Sets the timer to when the next delivery could start. */
  function schedule(): void {
    const hasWork = ready.length > 0 || waiting.count > 0;
    if (!hasWork || underWay.size >= (failing ? 1 : concurrency)) {
      // Whatever is under way goes on from here when it ends; this only watches for its silent death.
      setTimer(underWay.size > 0 ? Date.now() + 2 * timeout + 1 : 0);
      return;
    }
    const isDue = ready.length > 0 || isFull() || flushes.size > 0;
    setTimer(Math.max(isDue ? 1 : waiting.since + flushInterval, pausedUntil, flushes.size > 0 ? 0 : lastStart + gap));
  }

  function setTimer(at: number): void {
    if (at === timerAt && timer !== undefined) return;
    clearTimeout(timer);
    timer = undefined;
    timerAt = at;
    if (at === 0) return;
    timer = setTimeout(
      () => {
        timerAt = 0;
        pump();
      },
      Math.max(at - Date.now(), 0),
    );
    // A process with nothing else to do may end; what waits then is flushed by its own hooks.
    if (typeof timer === "object") (timer as { unref?(): void }).unref?.();
  }

  function start(batch: Batch, now: number): void {
    batch.startedAt = lastStart = now;
    underWay.add(batch);
    requests++;
    deliver(batch)
      .catch((error: unknown): Outcome => ({ kind: "retry", error: asError(error) }))
      .then((outcome) => {
        settle(batch, now, outcome);
        pump();
      });
  }

  function settle(batch: Batch, startedAt: number, outcome: Outcome): void {
    // One that was given up for lost may answer after all; its repetition speaks for it.
    if (batch.startedAt !== startedAt || !underWay.delete(batch)) return;
    if (outcome.error) events.error(outcome.error);
    switch (outcome.kind) {
      case "delivered":
        failing = false;
        gap = Math.min(outcome.gap ?? 0, flushInterval);
        delivered += batch.count - outcome.rejected.length;
        dropNamed(batch, outcome.rejected);
        break;
      case "refused":
        failing = false;
        if (outcome.rejected.length > 0 && outcome.rejected.length < batch.count) {
          const named = new Set(outcome.rejected);
          dropNamed(batch, outcome.rejected);
          const rest = linesOf(batch).filter((_, i) => !named.has(i));
          replace(batch, [rest]);
          return;
        }
        drop(() => linesOf(batch), batch.count, "rejected");
        break;
      case "split":
        failing = false;
        if (batch.count > 1) {
          const lines = linesOf(batch);
          const half = lines.length >> 1;
          replace(batch, [lines.slice(0, half), lines.slice(half)]);
          return;
        }
        drop(() => linesOf(batch), batch.count, "too-large");
        break;
      case "pause":
      case "retry": {
        failing = true;
        if (outcome.kind === "retry") batch.tries++;
        const asked = Math.min(outcome.wait ?? 0, MAX_WAIT_MS);
        const own = outcome.kind === "pause" && asked > 0 ? 0 : wait(Math.max(batch.tries, 1));
        pausedUntil = Math.max(pausedUntil, Date.now() + Math.max(asked, own));
        if (batch.tries <= maxRetries) {
          if (outcome.newId) batch.id = nextId();
          retries++;
          ready.push(batch);
          ready.sort((a, b) => a.order - b.order);
          return;
        }
        drop(() => linesOf(batch), batch.count, "retries");
      }
    }
    cutBytes -= batch.body.length;
    cutEntries -= batch.count;
    batch.settled?.(batch.tries <= maxRetries);
    for (const flush of flushes) if (isFlushed(flush.order)) flush.done();
  }

  function dropNamed(batch: Batch, indexes: readonly number[]): void {
    if (indexes.length === 0) return;
    drop(() => linesOf(batch).filter((_, i) => indexes.includes(i)), indexes.length, "rejected");
  }

  /** Puts other batches in a batch's place, each under an id of its own: their bytes are others. */
  function replace(batch: Batch, parts: Uint8Array[][]): void {
    cutBytes -= batch.body.length;
    cutEntries -= batch.count;
    let open = parts.length;
    let isOver = true;
    const settled =
      batch.settled &&
      ((part: boolean) => {
        isOver &&= part;
        if (--open === 0) batch.settled?.(isOver);
      });
    const made = parts.map((lines): Batch => {
      const body = joined(
        lines,
        lines.reduce((sum, line) => sum + line.length, 0),
      );
      cutBytes += body.length;
      cutEntries += lines.length;
      return { body, count: lines.length, id: nextId(), order: batch.order, tries: batch.tries, startedAt: 0, settled };
    });
    ready = [...made, ...ready];
  }

  function isFlushed(before: number): boolean {
    return ![...ready, ...underWay].some((batch) => batch.order < before);
  }

  function flush(timeoutMs: number): Promise<void> {
    while (waiting.count > 0) ready.push(cut());
    if (isFlushed(order)) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(deadline);
        flushes.delete(mine);
        resolve();
      };
      const mine = { order, done };
      // Holds the process until it fires or is cleared.
      const deadline = setTimeout(done, timeoutMs);
      flushes.add(mine);
      pump();
    });
  }

  return {
    isRepeatable: options.isRepeatable,
    push,
    flush,
    close() {
      isClosed = true;
    },
    stats: () => ({
      delivered,
      dropped,
      pending: waiting.count + cutEntries,
      pendingBytes: waiting.bytes + cutBytes,
      requests,
      retries,
    }),
    pending() {
      while (waiting.count > 0) ready.push(cut());
      return [...underWay, ...ready];
    },
    adopt(delivery, settled) {
      cutBytes += delivery.body.length;
      cutEntries += delivery.count;
      ready.push({ ...delivery, order: order++, tries: 0, startedAt: 0, settled });
      pump();
    },
  };
}

/** Lines with their line feeds. */
function linesOf({ body }: Delivery): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let from = 0; from < body.length; ) {
    const end = body.indexOf(10, from) + 1 || body.length;
    lines.push(body.subarray(from, end));
    from = end;
  }
  return lines;
}

export function asError(error: unknown): Error {
  try {
    return error instanceof Error ? error : new Error(String(error));
  } catch {
    return new Error("Something was thrown that cannot be shown.");
  }
}
