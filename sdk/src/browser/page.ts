import { asError } from "../safe.ts";
import type { LogMethod } from "../types.ts";
import { MAX_BYTES, MAX_FRAMES } from "./limits.ts";

/** A document that sends requests, and the bytes it may still have in flight. */
interface Lane {
  view: Window & typeof globalThis;
  free: number;
}

/**
 * Creates the list of documents whose requests outlive the page: the page itself, and iframes if it needs more bytes.
 * @returns the documents, and a function that adds iframes until `bytes` can be in flight, or removes them for 0 bytes
 */
export function createLanes(): [lanes: readonly Lane[], reserve: (bytes: number) => void] {
  const lanes: Lane[] = [{ view: globalThis.window, free: MAX_BYTES }];
  function reserve(bytes: number): void {
    // Created in advance, because a page that closes cannot create documents.
    while (bytes > lanes.length * MAX_BYTES && lanes.length <= MAX_FRAMES) {
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      // SAFETY: an iframe in the page has a window; its empty document has the same origin.
      lanes.push({ view: frame.contentWindow as Lane["view"], free: MAX_BYTES });
    }
    if (bytes === 0) for (const { view } of lanes.splice(1)) view.frameElement?.remove();
  }
  return [lanes, reserve];
}

/**
 * Runs `work` with `localStorage`. Returns `undefined` if that is forbidden or full; a batch then ends with its page.
 */
export function withStorage<T>(work: (storage: Storage) => T): T | undefined {
  try {
    return work(localStorage);
  } catch {
    return undefined;
  }
}

/**
 * Runs `work` under a lock. On pages without TLS there are no locks: tabs may send the same batch, which is stored
 * once.
 */
export function withLock(name: string, options: LockOptions, work: (lock?: Lock | null) => Promise<unknown>): void {
  const { locks } = navigator;
  (locks ? locks.request(name, options, work) : work()).catch(() => {});
}

/** Sets a timer of at most eleven days, because timers of 2 ** 31 ms and more fire immediately. */
export function setTimer(work: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(work, Math.min(ms, 1e9));
}

/** Returns an id for a tab or a session. It is unique, but not secret. */
export function randomId(): string {
  return Date.now().toString(36) + Math.random().toString(36).slice(2);
}

/** Returns the session of the tab, or a new one for this page if the page cannot use `sessionStorage`. */
export function tabSession(): string {
  try {
    sessionStorage.taffrail ??= randomId();
    return sessionStorage.taffrail;
  } catch {
    return randomId();
  }
}

/** Calls `log` with every uncaught error and unhandled rejection of the page. */
export function logUncaught(log: LogMethod): void {
  addEventListener("error", ({ message, error, filename, lineno, colno }) =>
    log(message, { error, at: `${filename}:${lineno}:${colno}` }),
  );
  addEventListener("unhandledrejection", ({ reason }) =>
    log(`Unhandled rejection: ${asError(reason).message}`, { error: reason }),
  );
}
