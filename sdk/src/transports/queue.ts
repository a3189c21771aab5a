import { runtime } from "#runtime";
import { HOUR_MS } from "../limits.ts";
import type { DropReason } from "../logger-options.ts";
import { asError, encodeText, withTimeout } from "../safe.ts";
import type { Deliver, Delivery, Outcome, Queue, QueueEvents, QueueOptions } from "./delivery.ts";
import { createLines, linesOf } from "./lines.ts";

interface Batch extends Delivery {
  /** Position in the order of delivery. The parts of a batch have its position. */
  order: number;
  tries: number;
  startedAt: number;
  isAdopted: boolean;
  /** Resolves at the end of the batch, with the result of `adopt`. */
  done: Promise<boolean>;
  resolve(isOver: boolean): void;
}

/** Creates a bounded queue in front of a destination that may be slow, pause or fail. */
export function createQueue(options: QueueOptions, deliver: Deliver, events: QueueEvents): Queue {
  const { size, maxEntries, maxBody, maxQueueBytes, flushInterval, concurrency, maxRetries, timeout } = options;
  const waiting = createLines();
  const stream = runtime.createStream?.();
  /** Batches that are not in flight, oldest first. */
  const ready: Batch[] = [];
  const inFlight = new Set<Batch>();
  /** Bytes of the batches in `ready` and `inFlight`. */
  let batchBytes = 0;
  let flushes = 0;
  let order = 0;
  let ids = "";
  let idCount = 0;
  let pausedUntil = 0;
  /** Allowed number of concurrent deliveries; 1 after a failure, until a delivery succeeds. */
  let slots = concurrency;
  let gap = 0;
  let lastStart = 0;
  /** Lower bound of the time at which the oldest waiting line was queued. */
  let since = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Time of the next timer; `Infinity` without a timer. */
  let timerAt = 0;
  let isPumpQueued = false;
  let isClosed = false;
  /** Ends the flush at the end of the process. */
  let giveUp = (): void => {};
  const counts = { delivered: 0, requests: 0, retries: 0, spooled: 0 };

  /** @param isCounted whether no request stands for the lines */
  function drop(lines: readonly string[], reason: DropReason, isCounted = true): void {
    if (isCounted) stream?.drop(lines.length, reason);
    events.drop(lines, reason);
  }

  function push(line: Uint8Array, level: number, now: number): void {
    let kept = line;
    for (;;) {
      const excess = waiting.bytes + batchBytes + kept.length - maxQueueBytes;
      if (!isClosed && excess <= 0) break;
      // The line is only valid until the next log call, and a callback for drops may log.
      kept = kept.slice();
      const evicted = !isClosed && waiting.evict(level, excess);
      drop(linesOf(evicted || kept), isClosed ? "closed" : "queue-full");
      if (!evicted) return;
    }
    const isFirst = waiting.count === 0;
    if (isFirst) since = now;
    waiting.add(kept, level);
    // A timer may be lost if the platform ends it with its request, or if the machine sleeps.
    const isLost = now > timerAt + timeout;
    if (!isPumpQueued && (isFirst || isLost || (inFlight.size < slots && nextStart() <= now))) {
      isPumpQueued = true;
      // At the end of the caller's turn, so that one request carries a burst.
      queueMicrotask(pump);
    }
  }

  /** Returns when the next delivery may start, in epoch milliseconds; `Infinity` if no entry waits. */
  function nextStart(): number {
    const isUrgent = ready.length > 0 || waiting.count >= size || waiting.bytes >= maxBody;
    const due = isUrgent ? 1 : waiting.count > 0 ? since + flushInterval : 1 / 0;
    return Math.max(due, pausedUntil, flushes > 0 ? 0 : lastStart + gap);
  }

  function pump(): void {
    isPumpQueued = false;
    const now = Date.now();
    for (const batch of inFlight) {
      if (now - batch.startedAt > 2 * timeout) {
        applyOutcome(batch, batch.startedAt, { kind: "retry", error: new Error("No answer.") });
      }
    }
    while (inFlight.size < slots && nextStart() <= now) start(ready.shift() ?? takeBatch(), now);
    // Deliveries in flight call `pump` when they end. The timer also detects deliveries that never end.
    const end = inFlight.size > 0 ? now + 2 * timeout + 1 : 1 / 0;
    timerAt = Math.min(end, inFlight.size < slots ? nextStart() : end);
    clearTimeout(timer);
    if (timerAt === 1 / 0) return;
    timer = setTimeout(pump, timerAt - now);
    // The timer does not keep a process running; shutdown hooks flush the waiting entries.
    // SAFETY: the timer of a browser is a number without this method.
    (timer as { unref?(): void }).unref?.();
  }

  function takeBatch(): Batch {
    const before = waiting.count;
    const body = waiting.take(maxEntries, maxBody);
    const count = before - waiting.count;
    return batchOf({ id: stream?.take(count) ?? nextId(), body, count }, order++);
  }

  function batchOf(delivery: Delivery, order: number, isAdopted = false): Batch {
    let resolve = (_: boolean): void => {};
    const done = new Promise<boolean>((settle) => {
      resolve = settle;
    });
    batchBytes += delivery.body.length;
    return { ...delivery, stream, order, tries: 0, startedAt: 0, isAdopted, done, resolve };
  }

  function nextId(): string {
    // Created at first use, because some platforms have no randomness before the first request.
    ids ||= crypto.randomUUID();
    return `${ids}-${idCount++}`;
  }

  function start(batch: Batch, now: number): void {
    batch.startedAt = lastStart = now;
    inFlight.add(batch);
    counts.requests++;
    deliver(batch)
      .catch((error: unknown): Outcome => ({ kind: "retry", error: asError(error) }))
      .then((outcome) => {
        applyOutcome(batch, now, outcome);
        pump();
      });
  }

  function applyOutcome(batch: Batch, startedAt: number, outcome: Outcome): void {
    // Ignores the late outcome of a delivery that was considered lost and is retried.
    if (batch.startedAt !== startedAt || !inFlight.delete(batch)) return;
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
      // A pause is as long as the server asks, at most an hour.
      const own = kind === "pause" && wait > 0 ? 0 : options.wait(batch.tries || 1);
      pausedUntil = Math.max(pausedUntil, Date.now() + Math.min(Math.max(wait, own), HOUR_MS));
      if (batch.tries <= maxRetries) {
        if (outcome.newId) batch.id = stream?.part(batch.id) ?? nextId();
        counts.retries++;
        ready.push(batch);
        ready.sort((a, b) => a.order - b.order);
        return;
      }
    }
    batchBytes -= body.length;
    /** `false` if the retries ran out and the batch was not spooled. */
    let isOver = true;
    /** Lines of the batches that replace this one. They get new ids, because their bytes differ. */
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
      const gone = lines.filter(isLost);
      // The service knows what it rejected of a delivery, and the rest of a delivery stands for all of it.
      const isCounted = !isDelivered && !isAdopted && gone.length === count;
      drop(gone, kind === "split" ? "too-large" : "rejected", isCounted);
      if (isDelivered) {
        gap = Math.min(outcome.gap ?? 0, flushInterval);
        counts.delivered += count - rejected.length;
        queue.spool?.delivered();
      } else if (rejected.length > 0 && rejected.length < count) {
        parts = [lines.filter((line, i) => !isLost(line, i))];
      }
    }
    const cut = parts.length > 1 ? count >> 1 : undefined;
    const made = parts.map((lines, i) => {
      const id = stream?.part(batch.id, i && cut, i ? undefined : cut) ?? nextId();
      return batchOf({ id, body: encodeText(`${lines.join("\n")}\n`), count: lines.length }, order, isAdopted);
    });
    ready.unshift(...made);
    if (made.length === 0) batch.resolve(isOver);
    else Promise.all(made.map(({ done }) => done)).then((all) => batch.resolve(!all.includes(false)));
  }

  /** Makes batches of all waiting lines. @returns all batches that have not ended */
  function pending(): Batch[] {
    while (waiting.count > 0) ready.push(takeBatch());
    return [...inFlight, ...ready];
  }

  const queue: Queue = {
    isRepeatable: options.isRepeatable,
    push,
    pending,
    async flush(timeoutMs, isEnd) {
      const all = pending();
      if (all.length === 0) return;
      flushes++;
      pump();
      const away = new Promise<void>((resolve) => {
        if (isEnd) giveUp = resolve;
      });
      await withTimeout(timeoutMs, Promise.race([Promise.all(all.map(({ done }) => done)), away]));
      flushes--;
    },
    close() {
      isClosed = true;
    },
    stats: () => ({
      ...counts,
      pending: [...inFlight, ...ready].reduce((sum, { count }) => sum + count, waiting.count),
      pendingBytes: waiting.bytes + batchBytes,
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
