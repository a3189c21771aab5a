import type { BatchOptions, DropReason } from "../logger-options.ts";
import { attempt, bytesOf } from "../safe.ts";
import type { FlushResult, LoggerStats } from "../types.ts";
import { EARLY_MS, FLUSH_MS, MAX_BYTES, REPEATABLE_MS, SETTLING_MS } from "./limits.ts";
import { createLanes, randomId, setTimer, withLock, withStorage } from "./page.ts";

/** Lines of one request, under an id that a repetition keeps. */
interface Batch {
  id: string;
  body: string;
  bytes: number;
  count: number;
  tries: number;
  /** Whether the batch is complete and not in flight. */
  isReady: boolean;
}

export interface Sender {
  /** Queues a line, which ends with a line feed. */
  push(line: string): void;
  drop(lines: string[], reason: DropReason): void;
  stats(): LoggerStats;
  flush(options?: { timeoutMs?: number }): Promise<FlushResult>;
}

/**
 * Creates a bounded queue in front of the proxy. Its complete batches are also in the store and survive the page.
 * @param hasPage `false` on a server, where no line may be pushed
 * @param counts of the logger, updated by the sender
 * @throws TypeError for invalid numbers
 */
export function createSender(
  hasPage: boolean,
  url: string,
  batch: BatchOptions,
  counts: Omit<LoggerStats, "pending" | "pendingBytes">,
  report: (error: unknown) => void,
  onDrop: (lines: string[], reason: DropReason) => void,
): Sender {
  const { size = 50, flushInterval = 5000, maxRetries = 3, backoffBase = 1000, maxQueueBytes = 1_048_576 } = batch;
  const { backoff } = batch;
  if ([size, flushInterval, maxRetries, backoffBase, maxQueueBytes].some((number) => !(number >= 0))) {
    throw new TypeError("taffrail: wrong batch number");
  }
  const target = hasPage ? new URL(url, location.href).href : "";
  const prefix = `taffrail ${target} `;
  // Some servers have no clock and no randomness while they load a module.
  const tab = hasPage ? randomId() : "";
  const [lanes, reserve] = createLanes();
  /** Batches that are neither delivered nor dropped, oldest first. */
  const batches = new Set<Batch>();
  /** The batch to which lines are added. It is not in the store yet. */
  let open: Batch | undefined;
  let made = 0;
  /** Called when all complete batches have ended. */
  const waiting: (() => void)[] = [];
  let pausedUntil = 0;
  /** Counts at the end of the last flush. */
  let last = stats();
  let leave: (() => void) | undefined;

  function drop(lines: string[], reason: DropReason): void {
    counts.dropped += lines.length;
    if (lines.length > 0) onDrop(lines, reason);
  }

  /** Ends a batch and drops its `lost` lines. */
  function end(batch: Batch, reason: DropReason, lost = linesOf(batch.body)): void {
    drop(lost, reason);
    batches.delete(batch);
    withStorage((storage) => delete storage[prefix + batch.id]);
  }

  /** Writes a batch to the store. @param at time of its last request in epoch milliseconds */
  function store({ id, body }: Batch, at: number): void {
    withStorage((storage) => (storage[prefix + id] = `${at} ${body}`));
  }

  function add(body: string, isReady: boolean, id = `${tab}-${made++}`): Batch {
    const batch = { id, body, bytes: bytesOf(body), count: linesOf(body).length, tries: 0, isReady };
    batches.add(batch);
    return batch;
  }

  /** Completes the open batch, which is sent at the end of the caller's turn. */
  function completeOpen(): void {
    if (open) {
      store(open, 1 / 0);
      open.isReady = true;
    }
    open = undefined;
    queueMicrotask(pump);
  }

  function pump(isClosing = false): void {
    if (navigator.onLine && (isClosing || Date.now() >= pausedUntil)) {
      for (const batch of batches) if (batch.isReady) send(batch, isClosing).catch(report);
    }
    if (batches.size === (open ? 1 : 0)) for (const resolve of waiting.splice(0)) resolve();
    if (batches.size === 0) reserve(0);
  }

  async function send(batch: Batch, isClosing: boolean): Promise<void> {
    const { id, body, bytes, tries } = batch;
    const lane = lanes.find(({ free }) => free >= bytes);
    // A batch that is too large to outlive the page is sent while the page is open.
    if (!lane && !isClosing && bytes <= MAX_BYTES) return;
    batch.isReady = false;
    store(batch, Date.now());
    const address = `${target}${target.includes("?") ? "&" : "?"}id=${id}`;
    const { fetch, navigator } = lane?.view ?? window;
    if (lane) lane.free -= bytes;
    counts.requests++;
    try {
      if (isClosing && !("keepalive" in Request.prototype)) throw new Error("No keepalive.");
      // The page may have keepalive requests of its own, so a repetition does not use it. Without a content type a
      // request to another origin needs no preflight.
      const keepalive = !!lane && (isClosing || tries === 0);
      const response = await fetch(address, { method: "POST", body, keepalive });
      applyResponse(batch, response, Object(await response.json().catch(() => 0)));
    } catch (error) {
      // If the page stays open, the retry with the same id gets the answer.
      if (isClosing) navigator.sendBeacon(address, body);
      retry(batch, error, 0, !navigator.onLine);
    } finally {
      if (lane) lane.free += bytes;
      pump();
    }
  }

  function applyResponse(batch: Batch, { status, headers, ok }: Response, answer: Answer): void {
    const lines = linesOf(batch.body);
    // Another application may answer every path with a page. A response without content cannot be checked.
    const isForeign = ok && status < 204 && !answer.data;
    const error = new Error(`The proxy answered ${status}: ${answer.error?.message ?? "check url"}`);
    if (status === 429 || status >= 500 || isForeign) {
      retry(batch, error, Number(headers.get("retry-after")) * 1000, status === 429);
      return;
    }
    if (!ok) report(error);
    const lost = ok ? (answer.data?.rejected ?? []).flatMap(({ index }) => lines[index] ?? []) : lines;
    counts.delivered += lines.length - lost.length;
    if (status === 413 && lines.length > 1) {
      for (const part of [lines.splice(0, lines.length >> 1), lines.splice(0)]) store(add(part.join(""), true), 1 / 0);
    }
    end(batch, status === 413 ? "too-large" : "rejected", lost);
  }

  /** @param isFree whether the retry does not count, because the server asked for a pause or the network is offline */
  function retry(batch: Batch, error: unknown, asked: number, isFree: boolean): void {
    report(error);
    batch.isReady = true;
    if (!isFree) batch.tries++;
    if (batch.tries > maxRetries) end(batch, "retries");
    else counts.retries++;
    const number = batch.tries || 1;
    const step = backoff === "fixed" ? 1 : backoff === "linear" ? number : 2 ** (number - 1);
    const own = typeof backoff === "function" && attempt(() => backoff(number));
    // Replaces a custom backoff that throws or returns no number.
    const ms = asked || Number(own) || backoffBase * step * (1 + Math.random());
    pausedUntil = Date.now() + ms;
    setTimer(pump, ms + EARLY_MS);
  }

  /**
   * Holds the lock that shows that this tab is open. Released on `pagehide`, because pages with locks are not cached.
   */
  function holdTabLock(): void {
    withLock(prefix + tab, {}, () => new Promise<void>((resolve) => (leave = resolve)));
  }

  function keysOf(start: string): string[] {
    return withStorage((storage) => Object.keys(storage).filter((key) => key.startsWith(start))) ?? [];
  }

  /** Sends the batches of closed tabs. Each tab's lock is taken, so that only one tab sends them. */
  function adoptAll(): void {
    for (const other of new Set(keysOf(prefix).map((key) => key.replace(/-\d+$/, "")))) {
      if (other === prefix + tab) continue;
      withLock(other, { ifAvailable: true }, async (lock) => {
        if (lock === null) return;
        await new Promise<void>((resolve) =>
          setTimer(() => {
            waiting.push(resolve);
            keysOf(`${other}-`).forEach(adopt);
            pump();
          }, SETTLING_MS),
        );
      });
    }
  }

  function adopt(key: string): void {
    const [at = 0, body] = withStorage((storage) => storage[key].split(/ (.*)/s)) ?? [];
    if (!body) return;
    const batch = add(body, true, key.slice(prefix.length));
    // The service may have stored the batch, and no longer recognizes a repetition.
    if (Date.now() - +at > REPEATABLE_MS) end(batch, "retries");
  }

  function stats(): ReturnType<Sender["stats"]> {
    let pending = 0;
    let pendingBytes = 0;
    for (const { count, bytes } of batches) {
      pending += count;
      pendingBytes += bytes;
    }
    return { ...counts, pending, pendingBytes };
  }

  if (hasPage) {
    addEventListener("online", () => {
      pausedUntil = 0;
      pump();
      adoptAll();
    });
    // A hidden page may never be shown again.
    addEventListener("visibilitychange", completeOpen);
    // No asynchronous code runs after this event.
    addEventListener("pagehide", () => {
      completeOpen();
      pump(true);
      leave?.();
    });
    addEventListener("pageshow", ({ persisted }) => {
      if (!persisted) return;
      holdTabLock();
      pausedUntil = 0;
      pump();
    });
    holdTabLock();
    adoptAll();
  }

  return {
    drop,
    stats,
    push(line) {
      const bytes = bytesOf(line);
      const all = bytes + stats().pendingBytes;
      if (all > maxQueueBytes) {
        drop([line], "queue-full");
        return;
      }
      reserve(all);
      if (open && open.bytes + bytes > MAX_BYTES) completeOpen();
      if (!open) {
        const mine = add("", false);
        open = mine;
        setTimer(() => open === mine && completeOpen(), flushInterval);
      }
      open.body += line;
      open.bytes += bytes;
      // At the end of the caller's turn, so that one request carries a burst.
      if (++open.count >= size) queueMicrotask(completeOpen);
    },
    async flush({ timeoutMs = FLUSH_MS } = {}) {
      const before = last;
      if (hasPage) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          setTimer(resolve, timeoutMs);
          completeOpen();
        });
      }
      last = stats();
      return {
        delivered: last.delivered - before.delivered,
        dropped: last.dropped - before.dropped,
        pending: last.pending,
      };
    },
  };
}

interface Answer {
  data?: { rejected?: readonly { index: number }[] };
  error?: { message?: string };
}

function linesOf(body: string): string[] {
  return body.match(/.+\n/g) ?? [];
}
