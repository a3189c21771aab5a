/**
 * What `npm start` has said about the machine and its own intentions, as `objects/host-control.ts` received it. Module state:
 * one instance an isolate, which all requests and objects in it share. On Cloudflare it never changes.
 */
export const hostState: {
  /** The service is stopping: what is in flight is answered, and no tail is opened any more. */
  isStopping: boolean;
  /**
   * Space on the disk that holds the data. `low`: less than `MIN_FREE_BYTES` are free, so entries are refused and nothing is
   * moved to the cold tier; what remains is for counters, sign-ins and deletions. Null where no disk is watched.
   */
  disk: "ok" | "low" | null;
} = { isStopping: false, disk: null };

/** What `npm start` tells the worker, one JSON text a line. */
export type HostCommand =
  /** The service stops: tails are closed, and the answer comes once no request is in flight. */
  | { do: "stop" }
  /** Space on the disk, as `hostState.disk`. Comes every second. */
  | { do: "disk"; disk: "ok" | "low" };

/** What the worker says, one JSON text a line. */
export interface HostReport {
  /** It has received the order, so all that arrived before is in flight by now. */
  received: HostCommand["do"];
}

/** Milliseconds after which a request counts as abandoned. The runtime gives no sign when a client disconnects. */
const LOST_MS = 60_000;
/** Requests in the set from which on abandoned ones are looked for. */
const SWEEP_FROM = 1000;

/** Requests of one isolate that have begun and not been answered. Exact but for those whose clients have disconnected. */
export class InFlight {
  /** Each with the time when it began, oldest first. */
  readonly #requests = new Set<{ beganAt: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get count(): number {
    this.#sweep();
    return this.#requests.size;
  }

  /** Counts a request until its answer is there, or has failed. */
  async track<T>(answer: () => T | Promise<T>): Promise<T> {
    if (this.#requests.size >= SWEEP_FROM) this.#sweep();
    const request = { beganAt: this.#now() };
    this.#requests.add(request);
    try {
      return await answer();
    } finally {
      this.#requests.delete(request);
    }
  }

  #sweep(): void {
    const oldest = this.#now() - LOST_MS;
    for (const request of this.#requests) {
      if (request.beganAt > oldest) return;
      this.#requests.delete(request);
    }
  }
}

/**
 * Workspaces that have had a live tail since this isolate began, and whose last tail is not known to be gone. An object that
 * hibernates keeps its sockets and leaves memory, so the objects themselves cannot be listed.
 */
export const tailedWorkspaces = new Set<string>();
