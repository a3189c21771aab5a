import type { MemoryLease, MemoryPool } from "../platform/memory-pool.ts";

/** Parts of the pool that are kept back: for small frames of readers that keep up, and for steps that read older entries. */
const FLOORS = 1 / 16;
const STEPS = 3 / 16;
/** Steps at a time. */
const STEPS_MOST = 2;
/** Bytes that a tail may always have on their way, where the tails of the isolate are few enough; see `floor`. */
const FLOOR_BYTES = 16 * 1024;
/** Milliseconds for which the share of an object counts that is no longer in memory and was not heard of again. */
const LOST_MS = 60_000;
/** Milliseconds between two looks at which objects are still in memory. */
const SWEEP_MS = 1000;

/**
 * Divides the memory of all live tails of an isolate (`ISOLATE_BUDGET.tails`) between the objects in it, and each object
 * divides its part between its readers. Both by dynamic thresholds: a holder may hold up to `weight` times of what is
 * free, so it stops taking while something is left, and the more hold much, the less each may hold. Of 12 MiB one reader
 * of weight 4 gets 9.6, two get 5.3 each, and there are 1.3 left for others.
 *
 * (A. Choudhury, E. Hahne: Dynamic Queue Length Thresholds for Shared-Memory Packet Switches, 1998.)
 */
export class TailShares {
  readonly #pool: MemoryPool;
  readonly #now: () => number;
  readonly #shares = new Map<string, TailShare>();
  readonly #steps = new Set<MemoryLease>();
  #sweptAt = 0;

  constructor(pool: MemoryPool, now: () => number = Date.now) {
    this.#pool = pool;
    this.#now = now;
  }

  /**
   * The share of an object that begins its life; that of its life before ends with it.
   * @param owner lives in memory as long as the object does
   */
  join(id: string, owner: object): TailShare {
    this.#shares.get(id)?.leave();
    const share: TailShare = new TailShare(this.#pool, owner, {
      now: () => this.#now(),
      free: (isShort) => this.#free(isShort),
      floor: () => this.#floor(),
      step: () => this.#step(),
      endStep: (lease) => this.#endStep(lease),
      used: (isUsed) => {
        if (isUsed) this.#shares.set(id, share);
        else if (this.#shares.get(id) === share) this.#shares.delete(id);
      },
    });
    return share;
  }

  /** Of what is shared. @param isShort more is wanted: shares of objects that are gone are looked for */
  #free(isShort: boolean): number {
    if (isShort) this.#sweep();
    let held = this.#pool.held;
    for (const { bytes } of this.#steps) held -= bytes;
    return sharedOf(this.#pool) - held;
  }

  #floor(): number {
    let tails = 1;
    for (const share of this.#shares.values()) tails += share.tails;
    const left = this.#pool.capacity - this.#pool.held;
    return Math.min(FLOOR_BYTES, (this.#pool.capacity * FLOORS) / tails, left);
  }

  #step(): MemoryLease | null {
    if (this.#steps.size >= STEPS_MOST) this.#sweep();
    if (this.#steps.size >= STEPS_MOST) return null;
    const lease = this.#pool.hold((this.#pool.capacity * STEPS) / STEPS_MOST);
    this.#steps.add(lease);
    return lease;
  }

  #endStep(lease: MemoryLease): void {
    this.#steps.delete(lease);
    lease.release();
  }

  #sweep(): void {
    const now = this.#now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    for (const share of [...this.#shares.values()]) share.look(now, now - LOST_MS);
  }
}

function sharedOf({ capacity }: MemoryPool): number {
  return capacity * (1 - FLOORS - STEPS);
}

interface SharePorts {
  now(): number;
  free(isShort: boolean): number;
  floor(): number;
  step(): MemoryLease | null;
  endStep(lease: MemoryLease): void;
  /** Whether the object has tails, or holds anything. */
  used(isUsed: boolean): void;
}

/** What the tails of one object hold of the isolate's memory, and may take of it. */
export class TailShare {
  readonly #pool: MemoryPool;
  readonly #owner: WeakRef<object>;
  readonly #ports: SharePorts;
  #lease: MemoryLease | null = null;
  readonly #steps = new Set<MemoryLease>();
  #tails = 0;
  #seenAt = 0;
  #hasLeft = false;

  constructor(pool: MemoryPool, owner: object, ports: SharePorts) {
    this.#pool = pool;
    this.#owner = new WeakRef(owner);
    this.#ports = ports;
  }

  /** Open tails of the object. */
  get tails(): number {
    return this.#tails;
  }

  set tails(tails: number) {
    this.#set(tails, this.#bytes);
  }

  /** Bytes that all objects share. */
  get capacity(): number {
    return sharedOf(this.#pool);
  }

  /** Of these, what nothing is held of now. */
  get free(): number {
    return this.#ports.free(false);
  }

  /** Sets what the object's tails hold, whatever is free: it is in memory. */
  hold(bytes: number): void {
    this.#set(this.#tails, bytes);
  }

  /**
   * Bytes that a holder may take now.
   * @param held what it holds already, in bytes
   * @param weight how many times of what is free it may hold
   * @param freed bytes of the object that are taken for free
   */
  room(held: number, weight: number, freed = 0): number {
    const roomOf = (free: number) => Math.min(free, (weight * free - held) / (1 + weight));
    const room = roomOf(this.#ports.free(false) + freed);
    return Math.max(0, room > 0 ? room : roomOf(this.#ports.free(true) + freed));
  }

  /** Bytes that a tail may have on their way whatever others hold, so that none that keeps up is stopped by them. */
  floor(): number {
    return this.#ports.floor();
  }

  /** Leases what one read of older entries takes; null where that has to wait. To be ended with `endStep`. */
  step(): MemoryLease | null {
    const lease = this.#hasLeft ? null : this.#ports.step();
    if (lease) this.#steps.add(lease);
    return lease;
  }

  endStep(lease: MemoryLease): void {
    if (this.#steps.delete(lease)) this.#ports.endStep(lease);
  }

  /** The object's life ends, or its connections do: nothing is held any more. */
  leave(): void {
    this.#set(0, 0);
    for (const lease of this.#steps) this.endStep(lease);
    this.#hasLeft = true;
  }

  /** Ends the share of an object that has been out of memory since then; that of one in memory goes on. */
  look(now: number, lostSince: number): void {
    if (this.#owner.deref() !== undefined) {
      this.#seenAt = now;
      this.#lease?.renew();
      for (const lease of this.#steps) lease.renew();
    } else if (this.#seenAt <= lostSince) this.leave();
  }

  get #bytes(): number {
    return this.#lease?.bytes ?? 0;
  }

  #set(tails: number, bytes: number): void {
    if (this.#hasLeft) return;
    this.#tails = tails;
    this.#seenAt = this.#ports.now();
    if (bytes !== this.#bytes) {
      if (this.#lease?.isLive && bytes > 0) this.#lease.resize(bytes);
      else {
        this.#lease?.release();
        this.#lease = bytes > 0 ? this.#pool.hold(bytes) : null;
      }
    }
    this.#ports.used(tails > 0 || bytes > 0);
  }
}
