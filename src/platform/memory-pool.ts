/** Milliseconds between two attempts of a waiting caller. */
const RETRY_MS = 10;
/** Milliseconds without an attempt after which a waiting caller counts as gone. */
const WAITER_LOST_MS = 1_000;
/**
 * Milliseconds after which a lease that was neither renewed nor released may be reclaimed. The runtime ends a request whose
 * client has disconnected without running its `finally` blocks, so a lease can stay behind.
 */
const LEASE_LOST_MS = 60_000;

export interface MemoryLease {
  readonly bytes: number;
  /** False once it was released or reclaimed. */
  readonly isLive: boolean;
  /** Changes the size without waiting: what is already in memory has to be counted, even past the pool's capacity. */
  resize(bytes: number): void;
  /**
   * Enlarges the lease to a size, waiting for room up to `timeoutMs`; false after that, and where the lease is gone.
   * Leases that grow go before callers that have none yet, and the oldest lease is always granted: otherwise leases that
   * wait for each other's bytes would all wait for ever. So a pool can be over its capacity by what one lease may come to.
   */
  grow(bytes: number, timeoutMs: number): Promise<boolean>;
  /** Keeps the lease from being reclaimed for another minute. */
  renew(): void;
  /** Returns the bytes. Safe to repeat. */
  release(): void;
}

interface Waiter {
  bytes: number;
  seenAt: number;
}

export interface MemoryPoolOptions {
  /** Bytes that all leases may come to. */
  capacity: number;
  /** Callers that may wait at a time; a further one is refused at once. */
  maxWaiting: number;
  now?: () => number;
  wait?: (milliseconds: number) => Promise<void>;
}

/**
 * Bounds the bytes that one kind of work holds in an isolate, over all requests and objects in it. Callers are admitted in
 * order of arrival. A waiting caller polls with a timer of its own instead of being woken by the caller that releases:
 * the runtime ends a request that waits for nothing but another request.
 */
export class MemoryPool {
  readonly capacity: number;
  readonly #maxWaiting: number;
  readonly #now: () => number;
  readonly #wait: (milliseconds: number) => Promise<void>;
  /** Live leases with the time of their last renewal, oldest first. */
  readonly #leases = new Map<Lease, number>();
  /** The same in order of creation. */
  readonly #byAge = new Set<Lease>();
  readonly #waiting = new Set<Waiter>();
  readonly #growing = new Set<Waiter>();
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

  /** Callers that wait now, those that have disconnected for up to a second included. */
  get waiting(): number {
    return this.#waiting.size + this.#growing.size;
  }

  /**
   * Leases bytes at once, or returns null where they do not fit or other callers wait. A request for more than the whole
   * capacity is granted while the pool is empty.
   */
  tryTake(bytes: number): MemoryLease | null {
    this.#forgetLostWaiters();
    return this.waiting === 0 ? this.#grant(bytes) : null;
  }

  /** Leases bytes that are in memory already: they count even past the capacity, and whether other callers wait or not. */
  hold(bytes: number): MemoryLease {
    return this.#lease(bytes);
  }

  /** Leases bytes, waiting for them up to `timeoutMs`; null after that, or at once where too many callers wait already. */
  async take(bytes: number, timeoutMs: number): Promise<MemoryLease | null> {
    const granted = this.tryTake(bytes);
    if (granted !== null) return granted;
    if (this.waiting >= this.#maxWaiting) return null;
    const startedAt = this.#now();
    const waiter: Waiter = { bytes, seenAt: startedAt };
    this.#waiting.add(waiter);
    try {
      while (this.#now() - startedAt < timeoutMs) {
        await this.#wait(RETRY_MS);
        waiter.seenAt = this.#now();
        // A pause of the whole isolate may have made this waiter look lost: it goes on at the end of the line.
        this.#waiting.add(waiter);
        this.#forgetLostWaiters();
        if (this.#growing.size > 0 || this.#waiting.values().next().value !== waiter) continue;
        const lease = this.#grant(bytes);
        if (lease !== null) return lease;
      }
      return null;
    } finally {
      this.#waiting.delete(waiter);
    }
  }

  async #grow(lease: Lease, bytes: number, timeoutMs: number): Promise<boolean> {
    const startedAt = this.#now();
    const waiter: Waiter = { bytes, seenAt: startedAt };
    try {
      for (;;) {
        if (!lease.isLive) return false;
        if (this.#mayGrow(lease, bytes)) {
          lease.resize(bytes);
          return true;
        }
        if (this.#now() - startedAt >= timeoutMs) return false;
        this.#growing.add(waiter);
        await this.#wait(RETRY_MS);
        waiter.seenAt = this.#now();
        lease.renew();
      }
    } finally {
      this.#growing.delete(waiter);
    }
  }

  #mayGrow(lease: Lease, bytes: number): boolean {
    const fits = () => this.#held + bytes - lease.bytes <= this.capacity;
    if (bytes <= lease.bytes || fits() || this.#byAge.values().next().value === lease) return true;
    this.#reclaimLostLeases();
    return fits();
  }

  #grant(bytes: number): MemoryLease | null {
    if (!this.#fits(bytes)) this.#reclaimLostLeases();
    return this.#fits(bytes) ? this.#lease(bytes) : null;
  }

  #lease(bytes: number): MemoryLease {
    const lease = new Lease(bytes, {
      resized: (difference) => {
        this.#held += difference;
      },
      grown: (size, timeoutMs) => this.#grow(lease, size, timeoutMs),
      renewed: () => this.#note(lease),
      released: () => this.#drop(lease),
    });
    this.#held += bytes;
    this.#byAge.add(lease);
    this.#note(lease);
    return lease;
  }

  #fits(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.capacity;
  }

  /** Keeps the map in order of renewal. */
  #note(lease: Lease): void {
    this.#leases.delete(lease);
    this.#leases.set(lease, this.#now());
  }

  #drop(lease: Lease): void {
    if (!this.#leases.delete(lease)) return;
    this.#byAge.delete(lease);
    this.#held -= lease.bytes;
  }

  #reclaimLostLeases(): void {
    const lostSince = this.#now() - LEASE_LOST_MS;
    for (const [lease, renewedAt] of this.#leases) {
      if (renewedAt > lostSince) return;
      lease.release();
    }
  }

  #forgetLostWaiters(): void {
    const lostSince = this.#now() - WAITER_LOST_MS;
    for (const waiters of [this.#waiting, this.#growing]) {
      for (const waiter of waiters) if (waiter.seenAt <= lostSince) waiters.delete(waiter);
    }
  }
}

interface LeasePorts {
  resized(difference: number): void;
  grown(bytes: number, timeoutMs: number): Promise<boolean>;
  renewed(): void;
  released(): void;
}

class Lease implements MemoryLease {
  readonly #ports: LeasePorts;
  #bytes: number;
  #isLive = true;

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
    this.#ports.resized(difference);
    this.#ports.renewed();
  }

  grow(bytes: number, timeoutMs: number): Promise<boolean> {
    return this.#ports.grown(bytes, timeoutMs);
  }

  renew(): void {
    if (this.#isLive) this.#ports.renewed();
  }

  release(): void {
    if (!this.#isLive) return;
    this.#isLive = false;
    this.#ports.released();
  }
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
