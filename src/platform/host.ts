/** The isolate in its process: orders of `npm start`, requests in flight, workspaces with tails. */

/**
 * State of the machine as `npm start` reports it; `objects/host-control.ts` receives it. Module state, one instance per
 * isolate, shared by all its requests and objects. On Cloudflare it never changes.
 */
export const hostState: {
  /** Whether the service is stopping. Requests in flight are answered, and no new tail is opened. */
  isStopping: boolean;
  /**
   * Free space on the data disk. `low`: less than `MIN_FREE_BYTES` are free, so entries are refused and flushes are
   * suspended; the remaining space is for counters, sign-ins and deletions. `null` if no disk is monitored.
   */
  disk: "ok" | "low" | null;
} = { isStopping: false, disk: null };

/** Commands of `npm start` to the worker, one JSON text per line. */
export type HostCommand =
  /** The service stops: tails are closed, and the response is sent when no request is in flight. */
  | { do: "stop" }
  /** Free space as in `hostState.disk`. Sent every second. */
  | { do: "disk"; disk: "ok" | "low" };

/** Reports of the worker, one JSON text per line. */
export interface HostReport {
  /** The command that was received. All requests that arrived before it are in flight by now. */
  received: HostCommand["do"];
}

/** Milliseconds after which a request counts as abandoned. The runtime does not report a client that disconnects. */
const LOST_MS = 60_000;
/** Number of requests from which abandoned ones are removed. */
const SWEEP_FROM = 1000;

/**
 * The requests of one isolate that have started and are not answered. Exact except for requests whose clients
 * disconnected.
 */
export class InFlight {
  /** In order of their start, oldest first. */
  readonly #requests = new Set<{ beganAt: number }>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get count(): number {
    this.#sweep();
    return this.#requests.size;
  }

  /** Counts a request until its response or failure. */
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
 * Workspaces that had a tail since the isolate started and whose last tail is not known to have ended. Objects that
 * hibernate keep their sockets but leave memory, so the objects themselves cannot be listed.
 */
export const tailedWorkspaces = new Set<string>();
