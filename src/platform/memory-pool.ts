// SAFETY: the runtime's global of this name; in Node it is absent.
const { Cloudflare: runtime } = globalThis as {
  Cloudflare?: { compatibilityFlags: Readonly<Record<string, boolean>> };
};
/**
 * Whether a request may wake another one. Without this flag of the runtime (the default since 2024-10-14; the test pool
 * of vitest turns it off), the continuation of the woken request would run as part of the other one, and hang.
 */
const CAN_WAKE = runtime?.compatibilityFlags.handle_cross_request_promise_resolution !== false;
/**
 * Milliseconds between two attempts of a waiting caller that is not woken: an earlier caller may have ended without
 * notice, or a lease may have been reclaimed.
 */
const RETRY_MS = CAN_WAKE ? 100 : 10;
/** Milliseconds without an attempt after which a waiting caller counts as gone. */
const WAITER_LOST_MS = 1_000;
/**
 * Milliseconds after which a lease that was neither renewed nor released may be reclaimed. The runtime ends a request
 * whose client has disconnected without running its `finally` blocks, so that a lease can remain.
 */
const LEASE_LOST_MS = 60_000;

export interface MemoryLease {
  readonly bytes: number;
  /** `false` after the lease was released or reclaimed. */
  readonly isLive: boolean;
  /** Changes the size without waiting. Bytes that are already in memory must be counted, even beyond the capacity. */
  resize(bytes: number): void;
  /**
   * Enlarges the lease, waiting for room up to `timeoutMs`; `false` after that or if the lease is no longer live.
   *
   * Growing leases have priority over new callers, and the oldest lease is always granted. Otherwise leases that wait
   * for each other's bytes would deadlock. A pool can therefore exceed its capacity by the maximum of one lease.
   */
  grow(bytes: number, timeoutMs: number): Promise<boolean>;
  /** Protects the lease from being reclaimed for another minute. */
  renew(): void;
  /** Returns the bytes. Safe to repeat. */
  release(): void;
}

interface Waiter {
  seenAt: number;
  /** Ends the pause between two attempts. */
  wake: () => void;
}

export interface MemoryPoolOptions {
  /** Maximum bytes of all leases. */
  capacity: number;
  /** Callers that may wait at a time. Another one is refused immediately. */
  maxWaiting: number;
  now?: () => number;
  /** Waits for the given time, or until `woken`. */
  wait?: (milliseconds: number, woken: Promise<void>) => Promise<void>;
}

/**
 * Bounds the bytes that one kind of work holds in an isolate, over all its requests and objects. Callers are admitted
 * in order of arrival. A waiting caller is woken when bytes are released and also has a timer: the runtime ends a
 * request that waits only for another request, and that request may end without notice.
 */
export class MemoryPool {
  readonly capacity: number;
  readonly #maxWaiting: number;
  readonly #now: () => number;
  readonly #wait: (milliseconds: number, woken: Promise<void>) => Promise<void>;
  /** Live leases in order of creation. */
  readonly #leases = new Set<Lease>();
  readonly #ahead = new WeakSet<MemoryLease>();
  readonly #waiting = new Set<Waiter>();
  readonly #growing = new Set<Waiter>();
  readonly #ports: LeasePorts = {
    now: () => this.#now(),
    resized: (difference) => {
      this.#held += difference;
      if (difference < 0) this.#wakeNext();
    },
    grown: (lease, size, timeoutMs) => this.#grow(lease, size, timeoutMs),
    released: (lease) => this.#drop(lease),
  };
  #held = 0;

  constructor({ capacity, maxWaiting, now = Date.now, wait = sleep }: MemoryPoolOptions) {
    this.capacity = capacity;
    this.#maxWaiting = maxWaiting;
    this.#now = now;
    this.#wait = wait;
  }

  /** Bytes that are leased now. */
  get held(): number {
    return this.#held;
  }

  /** Bytes of leases by `tryTakeAhead`. */
  get heldAhead(): number {
    let bytes = 0;
    for (const lease of this.#leases) if (this.#ahead.has(lease)) bytes += lease.bytes;
    return bytes;
  }

  /** Callers that wait now, including those that disconnected up to a second ago. */
  get waiting(): number {
    return this.#waiting.size + this.#growing.size;
  }

  /** Leases bytes without waiting; `null` if they do not fit or other callers wait. An empty pool grants more than its capacity. */
  tryTake(bytes: number): MemoryLease | null {
    this.#forgetLostWaiters();
    return this.waiting === 0 ? this.#grant(bytes) : null;
  }

  /**
   * Leases bytes without waiting; `null` if the pool would be more than half full, so that the lease blocks no others.
   * @param idle bytes of other such leases that do not count here
   */
  tryTakeAhead(bytes: number, idle = 0): MemoryLease | null {
    const lease = this.#hasRoom(bytes, this.capacity / 2 + idle) ? this.tryTake(bytes) : null;
    if (lease !== null) this.#ahead.add(lease);
    return lease;
  }

  /** Enlarges a lease under the conditions of `tryTakeAhead`. @returns whether it was enlarged */
  tryGrowAhead(lease: MemoryLease, bytes: number, idle = 0): boolean {
    this.#forgetLostWaiters();
    const mayGrow = lease.isLive && this.waiting === 0 && this.#hasRoom(bytes - lease.bytes, this.capacity / 2 + idle);
    if (mayGrow) lease.resize(bytes);
    return mayGrow;
  }

  /** Leases bytes that are already in memory. They count even beyond the capacity and if other callers wait. */
  hold(bytes: number): MemoryLease {
    return this.#lease(bytes);
  }

  /** Leases bytes, here or `elsewhere`, waiting up to `timeoutMs`; `null` after that, or immediately if too many callers wait. */
  async take(bytes: number, timeoutMs: number, elsewhere?: () => MemoryLease | null): Promise<MemoryLease | null> {
    const granted = elsewhere?.() ?? this.tryTake(bytes);
    if (granted !== null) return granted;
    if (this.waiting >= this.#maxWaiting) return null;
    const startedAt = this.#now();
    const waiter: Waiter = { seenAt: startedAt, wake: () => {} };
    this.#waiting.add(waiter);
    try {
      while (this.#now() - startedAt < timeoutMs) {
        await this.#pause(waiter);
        // A pause of the whole isolate may have removed this waiter as gone. It continues at the end of the queue.
        this.#waiting.add(waiter);
        this.#forgetLostWaiters();
        if (this.#growing.size > 0 || this.#waiting.values().next().value !== waiter) continue;
        const lease = elsewhere?.() ?? this.#grant(bytes);
        if (lease !== null) return lease;
      }
      return null;
    } finally {
      this.#waiting.delete(waiter);
      this.#wakeNext();
    }
  }

  async #pause(waiter: Waiter): Promise<void> {
    const woken = new Promise<void>((resolve) => {
      waiter.wake = resolve;
    });
    await this.#wait(RETRY_MS, woken);
    waiter.seenAt = this.#now();
  }

  /** Wakes the next waiters: growing leases in any order, other callers in order of arrival. */
  #wakeNext(): void {
    if (!CAN_WAKE) return;
    for (const growing of this.#growing) growing.wake();
    if (this.#growing.size > 0) return;
    const [next] = this.#waiting;
    next?.wake();
  }

  async #grow(lease: Lease, bytes: number, timeoutMs: number): Promise<boolean> {
    const startedAt = this.#now();
    const waiter: Waiter = { seenAt: startedAt, wake: () => {} };
    try {
      for (;;) {
        if (!lease.isLive) return false;
        if (this.#mayGrow(lease, bytes)) {
          lease.resize(bytes);
          return true;
        }
        if (this.#now() - startedAt >= timeoutMs) return false;
        this.#growing.add(waiter);
        await this.#pause(waiter);
        lease.renew();
      }
    } finally {
      if (this.#growing.delete(waiter)) this.#wakeNext();
    }
  }

  #mayGrow(lease: Lease, bytes: number): boolean {
    if (bytes <= lease.bytes || this.#leases.values().next().value === lease) return true;
    return this.#hasRoom(bytes - lease.bytes, this.capacity);
  }

  /** Whether bytes fit into a part of the capacity. Reclaims lost leases if they do not. */
  #hasRoom(bytes: number, capacity: number): boolean {
    if (this.#held + bytes <= capacity) return true;
    const lostSince = this.#now() - LEASE_LOST_MS;
    for (const lease of this.#leases) if (lease.renewedAt <= lostSince) lease.release();
    return this.#held + bytes <= capacity;
  }

  #grant(bytes: number): MemoryLease | null {
    return this.#hasRoom(bytes, this.capacity) || this.#held === 0 ? this.#lease(bytes) : null;
  }

  #lease(bytes: number): MemoryLease {
    const lease = new Lease(bytes, this.#ports);
    this.#held += bytes;
    this.#leases.add(lease);
    lease.renew();
    return lease;
  }

  #drop(lease: Lease): void {
    if (!this.#leases.delete(lease)) return;
    this.#held -= lease.bytes;
    this.#wakeNext();
  }

  #forgetLostWaiters(): void {
    if (this.waiting === 0) return;
    const lostSince = this.#now() - WAITER_LOST_MS;
    for (const waiters of [this.#waiting, this.#growing]) {
      for (const waiter of waiters) if (waiter.seenAt <= lostSince) waiters.delete(waiter);
    }
  }
}

/** The functions that a lease needs of its pool. */
interface LeasePorts {
  now(): number;
  resized(difference: number): void;
  grown(lease: Lease, bytes: number, timeoutMs: number): Promise<boolean>;
  released(lease: Lease): void;
}

class Lease implements MemoryLease {
  readonly #ports: LeasePorts;
  #bytes: number;
  #isLive = true;
  /** Milliseconds of the pool's clock. */
  renewedAt = 0;

  constructor(bytes: number, ports: LeasePorts) {
    this.#bytes = bytes;
    this.#ports = ports;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isLive(): boolean {
    return this.#isLive;
  }

  resize(bytes: number): void {
    if (!this.#isLive) return;
    const difference = bytes - this.#bytes;
    this.#bytes = bytes;
    this.renew();
    this.#ports.resized(difference);
  }

  grow(bytes: number, timeoutMs: number): Promise<boolean> {
    return this.#ports.grown(this, bytes, timeoutMs);
  }

  renew(): void {
    this.renewedAt = this.#ports.now();
  }

  release(): void {
    if (!this.#isLive) return;
    this.#isLive = false;
    this.#ports.released(this);
  }
}

async function sleep(milliseconds: number, woken: Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const elapsed = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([elapsed, woken]);
  clearTimeout(timer);
}
