import { bytesOf } from "../safe.ts";

/** Bytes of one request, and of all that a document has under way: browsers let 64 KiB outlive it. */
export const MAX_BYTES = 60_000;
/** Documents besides the page's own, each with as much again: together they take 240,000 bytes. */
const MAX_FRAMES = 3;
/** Milliseconds after which the service no longer recognizes a repetition: an hour less than it promises. */
const REPEATABLE_MS = 23 * 3_600_000;
/** Milliseconds until what one tab removed from the store is gone for all: locks are faster than stores. */
const SETTLING_MS = 300;

/** Lines that travel together, under an id that a repetition keeps. */
export interface Batch {
  id: string;
  body: string;
  bytes: number;
  tries: number;
  /** Under way. */
  isSent: boolean;
  /** Settles once it is delivered or dropped. */
  done: Promise<void>;
  settle(): void;
}

/** The network, or the page, is back; nobody may see the page again; it ends: nothing asynchronous runs after that. */
export type Turn = "back" | "hidden" | "closing";

/** What the browser gives: requests that outlive the page, a store that outlives them, and who else is there. */
export interface Page {
  /** Makes a batch, and writes it to the store, where it survives the page. */
  made(body: string): Batch;
  /** Sees to it that so many bytes could be under way should the page close now. */
  reserve(bytes: number): void;
  /** `undefined` if nothing more may be under way now. */
  post(batch: Batch, isClosing: boolean): Promise<Response> | undefined;
  forget(batch: Batch): void;
}

interface Lane {
  view: Window & typeof globalThis;
  free: number;
}

/**
 * @param adopt takes over what a tab that is gone left; `isStale` if it could have been stored already, and is too old
 *   to be recognized
 */
export function createPage(
  url: string,
  turned: (turn: Turn) => void,
  adopt: (batch: Batch, isStale: boolean) => void,
): Page {
  const target = new URL(url, location.href).href;
  const prefix = `taffrail ${target} `;
  const tab = randomId();
  const lanes: Lane[] = [{ view: window, free: MAX_BYTES }];
  let count = 0;
  let leave: (() => void) | undefined;

  /** Stores may be forbidden or full: then a batch lives as long as its page. */
  function stored<T>(work: (storage: Storage) => T): T | undefined {
    try {
      return work(localStorage);
    } catch {
      return undefined;
    }
  }

  /** @param at when it was first sent, 0 before */
  function keep({ id, body }: Batch, at: number): void {
    stored((storage) => storage.setItem(prefix + id, `${at} ${body}`));
  }

  /** Says that this tab lives, for as long as it does. A frozen page must hold no lock, or it would not be kept. */
  function live(): void {
    locked(tab, {}, () => new Promise<void>((resolve) => (leave = resolve)));
  }

  /** Without locks, on pages without TLS, tabs may send the same: the service stores it once. */
  function locked(name: string, options: LockOptions, work: (lock?: Lock | null) => Promise<unknown>): void {
    const { locks } = navigator;
    (locks ? locks.request(prefix + name, options, work) : work()).catch(() => {});
  }

  /** Sends what tabs that are gone left, each tab's under its lock, so that one tab alone does. */
  function adoptAll(): void {
    const ids = stored(Object.keys)?.flatMap((key) => (key.startsWith(prefix) ? key.slice(prefix.length) : [])) ?? [];
    for (const other of new Set(ids.map(tabOf))) {
      if (other === tab) continue;
      locked(other, { ifAvailable: true }, async (lock) => {
        if (lock === null) return;
        await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
        await Promise.all(ids.filter((id) => tabOf(id) === other).map(revive));
      });
    }
  }

  function revive(id: string): Promise<void> | undefined {
    const [, at = 0, body] = /^(\d+) (.+)/s.exec(stored((storage) => storage.getItem(prefix + id)) ?? "") ?? [];
    if (!body) return undefined;
    const batch = batchOf(id, body);
    adopt(batch, +at > 0 && Date.now() - +at > REPEATABLE_MS);
    return batch.done;
  }

  addEventListener("online", () => {
    turned("back");
    adoptAll();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") turned("hidden");
  });
  addEventListener("pagehide", () => {
    turned("closing");
    leave?.();
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    live();
    turned("back");
  });
  live();
  adoptAll();

  return {
    made(body) {
      const batch = batchOf(`${tab}-${count++}`, body);
      keep(batch, 0);
      return batch;
    },
    reserve(bytes) {
      // Beforehand: a page that closes gets no new documents.
      while (bytes > lanes.length * MAX_BYTES && lanes.length <= MAX_FRAMES) {
        const frame = document.createElement("iframe");
        frame.hidden = true;
        document.documentElement.append(frame);
        // SAFETY: the window of an empty document of the same origin.
        const view = frame.contentWindow as Lane["view"] | null;
        if (!view) return;
        lanes.push({ view, free: MAX_BYTES });
      }
      if (bytes === 0) for (const { view } of lanes.splice(1)) view.frameElement?.remove();
    },
    forget({ id }) {
      stored((storage) => storage.removeItem(prefix + id));
    },
    post(batch, isClosing) {
      const { id, body, bytes, tries } = batch;
      const lane = lanes.find(({ free }) => free >= bytes);
      // What is too large to outlive the page at all goes out while that lives.
      if (!lane && !isClosing && bytes <= MAX_BYTES) return undefined;
      batch.isSent = true;
      keep(batch, Date.now());
      const address = `${target}${target.includes("?") ? "&" : "?"}id=${id}`;
      const { fetch, navigator } = lane?.view ?? window;
      if (lane) lane.free -= bytes;
      // The page may have such requests of its own, so a repetition does without. No content type: a request to
      // another origin goes out without being announced by another one.
      const isBeacon = isClosing && !("keepalive" in Request.prototype);
      const request = { method: "POST", body, keepalive: !!lane && (isClosing || tries === 0) };
      return (isBeacon ? Promise.reject(new Error("No keepalive.")) : fetch(address, request))
        .catch((error: unknown) => {
          // Without an answer: should the page live on, a repetition under the same id gets it.
          if (isClosing) navigator.sendBeacon(address, body);
          throw error;
        })
        .finally(() => {
          if (lane) lane.free += bytes;
        });
    },
  };
}

function batchOf(id: string, body: string): Batch {
  let settle = (): void => {};
  const done = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return { id, body, bytes: bytesOf(body), tries: 0, isSent: false, done, settle };
}

function tabOf(id: string): string {
  return id.replace(/-.*/, "");
}

/** Not secret: it names a tab or a session. */
export function randomId(): string {
  return Date.now().toString(36) + Math.random().toString(36).slice(2);
}
