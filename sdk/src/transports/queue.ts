import { HOUR_MS } from "../limits.ts";
import { asError, encodeText, within } from "../safe.ts";
import type { DropReason } from "../types.ts";
import type { Deliver, Delivery, Outcome, Queue, QueueEvents, QueueOptions } from "./delivery.ts";
import { createLines, linesOf } from "./lines.ts";

interface Batch extends Delivery {
  /** Of batches made from one, all have its number. */
  order: number;
  tries: number;
  startedAt: number;
  isAdopted: boolean;
  /** Whether it is over; see `adopt`. */
  done: Promise<boolean>;
  settle(isOver: boolean): void;
}

/** A bounded queue before something that may be slow, pause or fail. */
export function createQueue(options: QueueOptions, deliver: Deliver, events: QueueEvents): Queue {
  const { size, maxEntries, maxBody, maxQueueBytes, flushInterval, concurrency, maxRetries, timeout } = options;
  const waiting = createLines();
  /** Cut and not under way, oldest first. */
  const ready: Batch[] = [];
  const underWay = new Set<Batch>();
  /** Bytes of both. */
  let cutBytes = 0;
  let flushes = 0;
  let order = 0;
  let ids = "";
  let idCount = 0;
  let pausedUntil = 0;
  /** Deliveries at the same time; after a failure one at a time asks whether the destination is back. */
  let slots = concurrency;
  let gap = 0;
  let lastStart = 0;
  /** When the oldest that waits may have come, never too late. */
  let since = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** `Infinity` if there is nothing to do. */
  let timerAt = 0;
  let isPumpQueued = false;
  let isClosed = false;
  /** Ends a flush at the end of the process. */
  let giveUp = (): void => {};
  const counts = { delivered: 0, dropped: 0, requests: 0, retries: 0, spooled: 0 };

  function drop(lines: readonly string[], reason: DropReason): void {
    if (lines.length === 0) return;
    counts.dropped += lines.length;
    events.drop(lines, reason);
  }

  function push(line: Uint8Array, level: number, now: number): void {
    let kept = line;
    for (;;) {
      const excess = waiting.bytes + cutBytes + kept.length - maxQueueBytes;
      if (!isClosed && excess <= 0) break;
      // It is lent until somebody logs, and who is told of a drop may.
      kept = kept.slice();
      const evicted = !isClosed && waiting.evict(level, excess);
      drop(linesOf(evicted || kept), isClosed ? "closed" : "queue-full");
      if (!evicted) return;
    }
    const isFirst = waiting.count === 0;
    if (isFirst) since = now;
    waiting.add(kept, level);
    // Timers and requests vanish where a platform ends them with the request they were made in, or while a machine sleeps.
    const isLost = now > timerAt + timeout;
    if (!isPumpQueued && (isFirst || isLost || (underWay.size < slots && nextStart() <= now))) {
      isPumpQueued = true;
      // At the end of the caller's turn, so that a burst travels together.
      queueMicrotask(pump);
    }
  }

  /** When the next delivery may start, epoch milliseconds; `Infinity` if there is none. */
  function nextStart(): number {
    const isUrgent = ready.length > 0 || waiting.count >= size || waiting.bytes >= maxBody;
    const due = isUrgent ? 1 : waiting.count > 0 ? since + flushInterval : 1 / 0;
    return Math.max(due, pausedUntil, flushes > 0 ? 0 : lastStart + gap);
  }

  function pump(): void {
    isPumpQueued = false;
    const now = Date.now();
    for (const batch of underWay) {
      if (now - batch.startedAt > 2 * timeout) {
        settle(batch, batch.startedAt, { kind: "retry", error: new Error("No answer.") });
      }
    }
    while (underWay.size < slots && nextStart() <= now) start(ready.shift() ?? cut(), now);
    // Whatever is under way goes on from here when it ends; besides this watches for its silent death.
    const end = underWay.size > 0 ? now + 2 * timeout + 1 : 1 / 0;
    timerAt = Math.min(end, underWay.size < slots ? nextStart() : end);
    clearTimeout(timer);
    if (timerAt === 1 / 0) return;
    timer = setTimeout(pump, timerAt - now);
    // A process with nothing else to do may end; what waits then is flushed by its own hooks.
    // SAFETY: a browser's timer is a number, which has no such method either.
    (timer as { unref?(): void }).unref?.();
  }

  function cut(): Batch {
    const { count } = waiting;
    const body = waiting.take(maxEntries, maxBody);
    return batchOf({ id: nextId(), body, count: count - waiting.count }, order++);
  }

  function batchOf(delivery: Delivery, order: number, isAdopted = false): Batch {
    let settle = (_: boolean): void => {};
    const done = new Promise<boolean>((resolve) => {
      settle = resolve;
    });
    cutBytes += delivery.body.length;
    return { ...delivery, order, tries: 0, startedAt: 0, isAdopted, done, settle };
  }

  function nextId(): string {
    // Made at first use: some platforms have no randomness before the first request.
    ids ||= crypto.randomUUID();
    return `${ids}-${idCount++}`;
  }

  function start(batch: Batch, now: number): void {
    batch.startedAt = lastStart = now;
    underWay.add(batch);
    counts.requests++;
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
    const { kind, rejected = [], wait = 0, error } = outcome;
    const { count, body, order, isAdopted } = batch;
    const isDelivered = kind === "delivered";
    const isFailed = kind === "retry" || kind === "pause";
    if (error) events.error(error);
    slots = concurrency;
    if (outcome.isAway) giveUp();
    if (isFailed) {
      slots = 1;
      if (kind === "retry") batch.tries++;
      // A pause is as long as the server says, if it says; an hour at most.
      const own = kind === "pause" && wait > 0 ? 0 : options.wait(batch.tries || 1);
      pausedUntil = Math.max(pausedUntil, Date.now() + Math.min(Math.max(wait, own), HOUR_MS));
      if (batch.tries <= maxRetries) {
        if (outcome.newId) batch.id = nextId();
        counts.retries++;
        ready.push(batch);
        ready.sort((a, b) => a.order - b.order);
        return;
      }
    }
    cutBytes -= body.length;
    /** Unless it is out of retries, and not kept. */
    let isOver = true;
    /** What is sent in its place, under ids of their own: the bytes are others. */
    let parts: string[][] = [];
    const lines = isDelivered && rejected.length === 0 ? [] : linesOf(body);
    if (isFailed) {
      isOver = !!queue.spool?.add(batch);
      if (isOver) counts.spooled += count;
      else if (!isAdopted) drop(lines, "retries");
    } else if (kind === "split" && count > 1) {
      parts = [lines.splice(0, count >> 1), lines];
    } else {
      const isLost = (_: string, i: number): boolean => rejected.includes(i) || !(isDelivered || rejected.length > 0);
      drop(lines.filter(isLost), kind === "split" ? "too-large" : "rejected");
      if (isDelivered) {
        gap = Math.min(outcome.gap ?? 0, flushInterval);
        counts.delivered += count - rejected.length;
        queue.spool?.delivered();
      } else if (rejected.length > 0 && rejected.length < count) {
        parts = [lines.filter((line, i) => !isLost(line, i))];
      }
    }
    const made = parts.map((lines) =>
      batchOf({ id: nextId(), body: encodeText(`${lines.join("\n")}\n`), count: lines.length }, order, isAdopted),
    );
    ready.unshift(...made);
    if (made.length === 0) batch.settle(isOver);
    else Promise.all(made.map(({ done }) => done)).then((all) => batch.settle(!all.includes(false)));
  }

  /** Cuts all that waits. */
  function pending(): Batch[] {
    while (waiting.count > 0) ready.push(cut());
    return [...underWay, ...ready];
  }

  const queue: Queue = {
    isRepeatable: options.isRepeatable,
    push,
    pending,
    async flush(timeoutMs, isEnd) {
      const all: Promise<unknown> = Promise.all(pending().map(({ done }) => done));
      if (underWay.size + ready.length === 0) return;
      flushes++;
      pump();
      const away = new Promise<void>((resolve) => {
        if (isEnd) giveUp = resolve;
      });
      await within(timeoutMs, Promise.race([all, away]));
      flushes--;
    },
    close() {
      isClosed = true;
    },
    stats: () => ({
      ...counts,
      pending: [...underWay, ...ready].reduce((sum, { count }) => sum + count, waiting.count),
      pendingBytes: waiting.bytes + cutBytes,
    }),
    adopt(delivery) {
      const batch = batchOf(delivery, order++, true);
      ready.push(batch);
      pump();
      return batch.done;
    },
  };
  return queue;
}
