import { attempt, bytesOf } from "../safe.ts";
import type { BatchOptions, DropReason, FlushResult, LoggerStats } from "../types.ts";
import { EARLY_MS, FLUSH_MS, MAX_BYTES, REPEATABLE_MS, SETTLING_MS } from "./limits.ts";
import { createLanes, later, locked, randomId, stored } from "./page.ts";

/** Lines that travel together, under an id that a repetition keeps. */
interface Batch {
  id: string;
  body: string;
  bytes: number;
  count: number;
  tries: number;
  /** Takes no more lines, and is not under way. */
  isReady: boolean;
}

export interface Sender {
  /** Takes a line, which ends with a line feed. */
  push(line: string): void;
  drop(lines: string[], reason: DropReason): void;
  stats(): LoggerStats;
  flush(options?: { timeoutMs?: number }): Promise<FlushResult>;
}

/**
 * A bounded queue before the proxy; what waits in it is in the store too, and survives the page. Where there is no page
 * it has nothing to send, and must be given nothing.
 * @param counts of the logger: what is delivered and dropped is counted there
 * @throws TypeError for numbers that are wrong
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
  // Some servers have no time and no randomness while they load a module.
  const tab = hasPage ? randomId() : "";
  const [lanes, reserve] = createLanes();
  /** What is not delivered or dropped, oldest first. */
  const batches = new Set<Batch>();
  /** The one of them that still takes lines, and is not in the store yet. */
  let open: Batch | undefined;
  let made = 0;
  /** Who waits for all others to be over. */
  const waiting: (() => void)[] = [];
  let pausedUntil = 0;
  let leave: (() => void) | undefined;

  function drop(lines: string[], reason: DropReason): void {
    counts.dropped += lines.length;
    if (lines.length > 0) onDrop(lines, reason);
  }

  /** A batch is over, and these lines of it are lost. */
  function end(batch: Batch, reason: DropReason, lost = linesOf(batch.body)): void {
    drop(lost, reason);
    batches.delete(batch);
    stored((storage) => delete storage[prefix + batch.id]);
  }

  /** @param at when it was sent last */
  function keep({ id, body }: Batch, at: number): void {
    stored((storage) => (storage[prefix + id] = `${at} ${body}`));
  }

  function add(body: string, isReady: boolean, id = `${tab}-${made++}`): Batch {
    const batch = { id, body, bytes: bytesOf(body), count: linesOf(body).length, tries: 0, isReady };
    batches.add(batch);
    return batch;
  }

  /** No more lines for the one that took them: it goes at the end of the caller's turn. */
  function cut(): void {
    if (open) {
      keep(open, 1 / 0);
      open.isReady = true;
    }
    open = undefined;
    queueMicrotask(pump);
  }

  function pump(isClosing = false): void {
    if (navigator.onLine && (isClosing || Date.now() >= pausedUntil)) {
      for (const batch of batches) if (batch.isReady) send(batch, isClosing).catch(report);
    }
    if (batches.size === (open ? 1 : 0)) for (const tell of waiting.splice(0)) tell();
    if (batches.size === 0) reserve(0);
  }

  async function send(batch: Batch, isClosing: boolean): Promise<void> {
    const { id, body, bytes, tries } = batch;
    const lane = lanes.find(({ free }) => free >= bytes);
    // What is too large to outlive the page at all goes out while that lives.
    if (!lane && !isClosing && bytes <= MAX_BYTES) return;
    batch.isReady = false;
    keep(batch, Date.now());
    const address = `${target}${target.includes("?") ? "&" : "?"}id=${id}`;
    const { fetch, navigator } = lane?.view ?? window;
    if (lane) lane.free -= bytes;
    counts.requests++;
    try {
      if (isClosing && !("keepalive" in Request.prototype)) throw new Error("No keepalive.");
      // The page may have such requests of its own, so a repetition does without. No content type: a request to another
      // origin goes out without being announced by another one.
      const keepalive = !!lane && (isClosing || tries === 0);
      const response = await fetch(address, { method: "POST", body, keepalive });
      settle(batch, response, Object(await response.json().catch(() => 0)));
    } catch (error) {
      // Without an answer: should the page live on, a repetition under the same id gets it.
      if (isClosing) navigator.sendBeacon(address, body);
      retry(batch, error, 0, !navigator.onLine);
    } finally {
      if (lane) lane.free += bytes;
      pump();
    }
  }

  function settle(batch: Batch, { status, headers, ok }: Response, answer: Answer): void {
    const lines = linesOf(batch.body);
    // An application may have a page for every path; without content there is nothing to look at.
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
      for (const part of [lines.splice(0, lines.length >> 1), lines.splice(0)]) keep(add(part.join(""), true), 1 / 0);
    }
    end(batch, status === 413 ? "too-large" : "rejected", lost);
  }

  /** @param isFree a pause the server asked for, or that the network is away for: no try is spent */
  function retry(batch: Batch, error: unknown, asked: number, isFree: boolean): void {
    report(error);
    batch.isReady = true;
    if (!isFree) batch.tries++;
    if (batch.tries > maxRetries) end(batch, "retries");
    else counts.retries++;
    const number = batch.tries || 1;
    const step = backoff === "fixed" ? 1 : backoff === "linear" ? number : 2 ** (number - 1);
    const own = typeof backoff === "function" && attempt(() => backoff(number));
    // One of the user's own that throws, or gives no number, is replaced.
    const ms = asked || Number(own) || backoffBase * step * (1 + Math.random());
    pausedUntil = Date.now() + ms;
    later(pump, ms + EARLY_MS);
  }

  /** Says that this tab lives, for as long as it does. A frozen page must hold no lock, or it would not be kept. */
  function live(): void {
    locked(prefix + tab, {}, () => new Promise<void>((resolve) => (leave = resolve)));
  }

  function keysOf(start: string): string[] {
    return stored((storage) => Object.keys(storage).filter((key) => key.startsWith(start))) ?? [];
  }

  /** Sends what tabs that are gone left, each tab's under its lock, so that one tab alone does. */
  function adoptAll(): void {
    for (const other of new Set(keysOf(prefix).map((key) => key.replace(/-\d+$/, "")))) {
      if (other === prefix + tab) continue;
      locked(other, { ifAvailable: true }, async (lock) => {
        if (lock === null) return;
        await new Promise<void>((resolve) =>
          later(() => {
            waiting.push(resolve);
            keysOf(`${other}-`).forEach(adopt);
            pump();
          }, SETTLING_MS),
        );
      });
    }
  }

  function adopt(key: string): void {
    const [at = 0, body] = stored((storage) => storage[key].split(/ (.*)/s)) ?? [];
    if (!body) return;
    const batch = add(body, true, key.slice(prefix.length));
    // It could have been stored already, and is too old to be recognized.
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
    // The page may never be shown again.
    addEventListener("visibilitychange", cut);
    // Nothing asynchronous runs after that.
    addEventListener("pagehide", () => {
      cut();
      pump(true);
      leave?.();
    });
    addEventListener("pageshow", ({ persisted }) => {
      if (!persisted) return;
      live();
      pausedUntil = 0;
      pump();
    });
    live();
    adoptAll();
  }

  return {
    drop,
    stats,
    push(line) {
      const bytes = bytesOf(line);
      let all = bytes;
      for (const batch of batches) all += batch.bytes;
      if (all > maxQueueBytes) {
        drop([line], "queue-full");
        return;
      }
      reserve(all);
      if (open && open.bytes + bytes > MAX_BYTES) cut();
      if (!open) {
        const mine = add("", false);
        open = mine;
        later(() => open === mine && cut(), flushInterval);
      }
      open.body += line;
      open.bytes += bytes;
      // At the end of the caller's turn, so that a burst travels together.
      if (++open.count >= size) queueMicrotask(cut);
    },
    async flush({ timeoutMs = FLUSH_MS } = {}) {
      const before = stats();
      if (hasPage) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          later(resolve, timeoutMs);
          cut();
        });
      }
      const { delivered, dropped, pending } = stats();
      return { delivered: delivered - before.delivered, dropped: dropped - before.dropped, pending };
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
