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
  /** Of another tab's batch: it is delivered or dropped. */
  settled?: (() => void) | undefined;
}

export interface PageEvents {
  /** The network, or the page itself, is back. */
  wake(): void;
  /** Nobody may see the page again: what waits goes now. */
  hidden(): void;
  /** The page ends, or is frozen: nothing asynchronous runs after this. */
  closing(): void;
  /** Takes over what a tab that is gone left. */
  adopt(batch: Batch): void;
  /** Batches that could have been stored already, and are too old to be recognized. */
  stale(body: string): void;
}

/** What the browser gives: requests that outlive the page, a store that outlives them, and who else is there. */
export interface Page {
  nextId(): string;
  /** Sees to it that so many bytes could be under way should the page close now. */
  reserve(bytes: number): void;
  /** `undefined` if nothing more may be under way now. */
  post(batch: Batch, isClosing: boolean): Promise<Reply> | undefined;
  /** Writes a batch to the store, where it survives the page. @param at when it was first sent, 0 before */
  keep(batch: Batch, at: number): void;
  forget(batch: Batch): void;
}

/** An answer, and what it says about single entries. */
export interface Reply {
  response: Response;
  rejected: readonly { index: number }[];
}

interface Lane {
  view: Window & typeof globalThis;
  free: number;
}

export function createPage(url: string, { wake, hidden, closing, adopt, stale }: PageEvents): Page {
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
    const keys = stored((storage) => Object.keys(storage).filter((key) => key.startsWith(prefix))) ?? [];
    const tabOf = (key: string): string => key.slice(prefix.length).replace(/-.*/, "");
    for (const other of new Set(keys.map(tabOf))) {
      if (other === tab) continue;
      locked(other, { ifAvailable: true }, async (lock) => {
        if (lock === null) return;
        await new Promise((resolve) => setTimeout(resolve, SETTLING_MS));
        await Promise.all(keys.filter((key) => tabOf(key) === other).map(revive));
      });
    }
  }

  function revive(key: string): Promise<void> | undefined {
    const [, at = 0, body] = /^(\d+) ([\s\S]+)/.exec(stored((storage) => storage.getItem(key)) ?? "") ?? [];
    if (!body) return undefined;
    if (+at > 0 && Date.now() - +at > REPEATABLE_MS) {
      stored((storage) => storage.removeItem(key));
      stale(body);
      return undefined;
    }
    return new Promise((settled) =>
      adopt({ id: key.slice(prefix.length), body, bytes: bytesOf(body), tries: 0, settled }),
    );
  }

  addEventListener("online", () => {
    wake();
    adoptAll();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") hidden();
  });
  addEventListener("pagehide", () => {
    closing();
    leave?.();
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (!persisted) return;
    live();
    wake();
  });
  live();
  adoptAll();

  return {
    nextId: () => `${tab}-${count++}`,
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
    keep({ id, body }, at) {
      stored((storage) => storage.setItem(prefix + id, `${at} ${body}`));
    },
    forget({ id }) {
      stored((storage) => storage.removeItem(prefix + id));
    },
    post({ id, body, bytes, tries }, isClosing) {
      const lane = lanes.find(({ free }) => free >= bytes);
      if (!lane && !isClosing) return undefined;
      const address = `${target}${target.includes("?") ? "&" : "?"}id=${id}`;
      const { fetch, navigator } = lane?.view ?? window;
      if (isClosing && !("keepalive" in Request.prototype)) {
        navigator.sendBeacon(address, body);
        return new Promise(() => {});
      }
      if (lane) lane.free -= bytes;
      // The page may have such requests of its own, so a repetition does without. No content type: a request to
      // another origin goes out without being announced by another one.
      return fetch(address, { method: "POST", body, keepalive: !!lane && (isClosing || tries === 0) })
        .then(async (response) => {
          const answer: { data?: { rejected?: Reply["rejected"] } } = await response.json().catch(() => ({}));
          return { response, rejected: answer.data?.rejected ?? [] };
        })
        .finally(() => {
          if (lane) lane.free += bytes;
        });
    },
  };
}

export function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Not secret: it names a tab or a session. */
export function randomId(): string {
  return Date.now().toString(36) + Math.random().toString(36).slice(2);
}
