import { tailMemory } from "../platform/isolate-memory.ts";
import type { MemoryLease, MemoryPool } from "../platform/memory-pool.ts";

/**
 * Fractions of the pool that are reserved: for small frames of readers that keep up, and for steps that read backlog.
 */
const FLOORS = 1 / 16;
const STEPS = 3 / 16;
/** Backlog steps in progress at most. */
const MAX_STEPS = 2;
/** Bytes that a tail may always have unacknowledged if the isolate has few enough tails; see `floor`. */
const FLOOR_BYTES = 16 * 1024;
/** Milliseconds for which the share of an object that is no longer in memory still counts. */
const LOST_MS = 60_000;
/** Milliseconds between two checks for objects that are no longer in memory. */
const SWEEP_MS = 1000;

/**
 * Divides the buffer memory of an isolate (`ISOLATE_BUDGET.tails`) between its objects. Each object divides its share
 * between its readers.
 *
 * Both levels use dynamic thresholds: a holder may hold up to `weight` times what is free. It stops before memory is
 * used up, and the more holders there are, the less each may hold. Of 12 MiB, one reader of weight 4 gets 9.6, two get
 * 5.3 each and 1.3 are left for others.
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
   * Creates the share of an object that starts, and ends the share of its previous instance.
   * @param owner is in memory as long as the object is
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

  /**
   * Returns the free shared bytes.
   * @param isShort more is needed: also ends the shares of objects that are no longer in memory
   */
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
    if (this.#steps.size >= MAX_STEPS) this.#sweep();
    if (this.#steps.size >= MAX_STEPS) return null;
    const lease = this.#pool.hold((this.#pool.capacity * STEPS) / MAX_STEPS);
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
  /** Records whether the object has tails or holds memory. */
  used(isUsed: boolean): void;
}

/** The part of the isolate's buffer memory that the tails of one object hold or may take. */
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
    this.#set(tails, this.bytes);
  }

  /** Bytes that the object's tails hold. */
  get bytes(): number {
    return this.#lease?.bytes ?? 0;
  }

  /** Bytes that all objects share. */
  get capacity(): number {
    return sharedOf(this.#pool);
  }

  /** Shared bytes that are free now. */
  get free(): number {
    return this.#ports.free(false);
  }

  /** Sets the bytes that the object's tails hold, even if fewer are free: they are in memory already. */
  hold(bytes: number): void {
    this.#set(this.#tails, bytes);
  }

  /**
   * Returns the bytes that a holder may take now.
   * @param held bytes that it holds already
   * @param weight factor of the free memory that it may hold
   * @param freed bytes of the object that are counted as free
   */
  room(held: number, weight: number, freed = 0): number {
    const roomOf = (free: number) => Math.min(free, (weight * free - held) / (1 + weight));
    const room = roomOf(this.#ports.free(false) + freed);
    return Math.max(0, room > 0 ? room : roomOf(this.#ports.free(true) + freed));
  }

  /**
   * Returns the bytes that a tail may have unacknowledged whatever others hold, so that a tail that keeps up is never
   * blocked.
   */
  floor(): number {
    return this.#ports.floor();
  }

  /** Reserves the memory of one backlog step; `null` if none is free. End the lease with `endStep`. */
  step(): MemoryLease | null {
    const lease = this.#hasLeft ? null : this.#ports.step();
    if (lease) this.#steps.add(lease);
    return lease;
  }

  endStep(lease: MemoryLease): void {
    if (this.#steps.delete(lease)) this.#ports.endStep(lease);
  }

  /** Releases everything because the object or its connections end. */
  leave(): void {
    this.#set(0, 0);
    for (const lease of this.#steps) this.endStep(lease);
    this.#hasLeft = true;
  }

  /** Ends the share of an object that left memory before `lostSince`. Renews the share of an object in memory. */
  look(now: number, lostSince: number): void {
    if (this.#owner.deref() !== undefined) {
      this.#seenAt = now;
      this.#lease?.renew();
      for (const lease of this.#steps) lease.renew();
    } else if (this.#seenAt <= lostSince) this.leave();
  }

  #set(tails: number, bytes: number): void {
    if (this.#hasLeft) return;
    this.#tails = tails;
    this.#seenAt = this.#ports.now();
    if (bytes !== this.bytes) {
      if (this.#lease?.isLive && bytes > 0) this.#lease.resize(bytes);
      else {
        this.#lease?.release();
        this.#lease = bytes > 0 ? this.#pool.hold(bytes) : null;
      }
    }
    this.#ports.used(tails > 0 || bytes > 0);
  }
}

/** Shares of all objects and of all tails of Loki's clients in the isolate (module state). */
export const isolateShares = new TailShares(tailMemory);
