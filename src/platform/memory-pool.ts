// SAFETY: what the runtime has under this name; Node has nothing.
const { Cloudflare: runtime } = globalThis as {
  Cloudflare?: { compatibilityFlags: Readonly<Record<string, boolean>> };
};
/**
 * Whether a request may wake another one. Without this flag of the runtime (the default since 2024-10-14; the test pool of
 * vitest turns it off), what the woken request does next would run as a part of the other one, and hang.
 */
const CAN_WAKE = runtime?.compatibilityFlags.handle_cross_request_promise_resolution !== false;
/**
 * Milliseconds between two attempts of a waiting caller that is not woken: a caller before it may have gone without a word,
 * or a lease may have been reclaimed.
 */
const RETRY_MS = CAN_WAKE ? 100 : 10;
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
  seenAt: number;
  /** Ends the pause between two attempts. */
  wake: () => void;
}

export interface MemoryPoolOptions {
  /** Bytes that all leases may come to. */
  capacity: number;
  /** Callers that may wait at a time; a further one is refused at once. */
  maxWaiting: number;
  now?: () => number;
  /** Waits for so long, or until `woken`. */
  wait?: (milliseconds: number, woken: Promise<void>) => Promise<void>;
}

/**
 * Bounds the bytes that one kind of work holds in an isolate, over all requests and objects in it. Callers are admitted in
 * order of arrival. A waiting caller is woken by the one that makes room, and has a timer of its own beside: the runtime ends a
 * request that waits for nothing but another request, and that other request may end without a word.
 */
export class MemoryPool {
  readonly capacity: number;
  readonly #maxWaiting: number;
  readonly #now: () => number;
  readonly #wait: (milliseconds: number, woken: Promise<void>) => Promise<void>;
  /** Live leases in order of creation. */
  readonly #leases = new Set<Lease>();
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

  /**
   * Leases bytes that may never be used, at once; null where the pool would be more than half full. So they cannot keep
   * others from the pool.
   */
  tryTakeAhead(bytes: number): MemoryLease | null {
    return this.#held + bytes > this.capacity / 2 ? null : this.tryTake(bytes);
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
    const waiter: Waiter = { seenAt: startedAt, wake: () => {} };
    this.#waiting.add(waiter);
    try {
      while (this.#now() - startedAt < timeoutMs) {
        await this.#pause(waiter);
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

  /** Lets those try that may go next: leases that grow in any order, the others in order of arrival. */
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
    const fits = () => this.#held + bytes - lease.bytes <= this.capacity;
    if (bytes <= lease.bytes || fits() || this.#leases.values().next().value === lease) return true;
    this.#reclaimLostLeases();
    return fits();
  }

  #grant(bytes: number): MemoryLease | null {
    if (!this.#fits(bytes)) this.#reclaimLostLeases();
    return this.#fits(bytes) ? this.#lease(bytes) : null;
  }

  #lease(bytes: number): MemoryLease {
    const lease = new Lease(bytes, this.#ports);
    this.#held += bytes;
    this.#leases.add(lease);
    lease.renew();
    return lease;
  }

  #fits(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.capacity;
  }

  #drop(lease: Lease): void {
    if (!this.#leases.delete(lease)) return;
    this.#held -= lease.bytes;
    this.#wakeNext();
  }

  #reclaimLostLeases(): void {
    const lostSince = this.#now() - LEASE_LOST_MS;
    for (const lease of this.#leases) if (lease.renewedAt <= lostSince) lease.release();
  }

  #forgetLostWaiters(): void {
    if (this.waiting === 0) return;
    const lostSince = this.#now() - WAITER_LOST_MS;
    for (const waiters of [this.#waiting, this.#growing]) {
      for (const waiter of waiters) if (waiter.seenAt <= lostSince) waiters.delete(waiter);
    }
  }
}

/** What a lease asks of its pool. */
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
  /** Of the pool's clock. */
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
