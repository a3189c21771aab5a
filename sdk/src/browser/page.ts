import { MAX_BYTES, MAX_FRAMES } from "./limits.ts";

/** A document that requests start from, and the bytes it may still have under way. */
interface Lane {
  view: Window & typeof globalThis;
  free: number;
}

/**
 * The page and frames in it, whose requests outlive it.
 * @returns with them how to see to it that so many bytes could be under way should the page close now
 */
export function createLanes(): [lanes: readonly Lane[], reserve: (bytes: number) => void] {
  const lanes: Lane[] = [{ view: globalThis.window, free: MAX_BYTES }];
  function reserve(bytes: number): void {
    // Beforehand: a page that closes gets no new documents.
    while (bytes > lanes.length * MAX_BYTES && lanes.length <= MAX_FRAMES) {
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      // SAFETY: the window of an empty document of the same origin, and there is one while the frame is in the page.
      lanes.push({ view: frame.contentWindow as Lane["view"], free: MAX_BYTES });
    }
    if (bytes === 0) for (const { view } of lanes.splice(1)) view.frameElement?.remove();
  }
  return [lanes, reserve];
}

/** Does something with the store; that may be forbidden or full, and then a batch lives as long as its page. */
export function stored<T>(work: (storage: Storage) => T): T | undefined {
  try {
    return work(localStorage);
  } catch {
    return undefined;
  }
}

/** Without locks, on pages without TLS, tabs may send the same: the service stores it once. */
export function locked(name: string, options: LockOptions, work: (lock?: Lock | null) => Promise<unknown>): void {
  const { locks } = navigator;
  (locks ? locks.request(name, options, work) : work()).catch(() => {});
}

/** Eleven days at most: from 2 ** 31 on timers go off at once. */
export function later(work: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(work, Math.min(ms, 1e9));
}

/** Not secret: it names a tab or a session. */
export function randomId(): string {
  return Date.now().toString(36) + Math.random().toString(36).slice(2);
}
