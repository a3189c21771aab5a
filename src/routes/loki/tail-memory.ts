import type { TailShare, TailShares } from "../../tail/shares.ts";

/** The bytes of one tail that its client may not have read. */
export interface UnreadBytes {
  /** Bytes that may be added now. */
  readonly room: number;
  /** Sets the bytes. */
  hold(bytes: number): void;
  /** Releases them: the connection has ended. */
  leave(): void;
}

/**
 * Factors of the free memory that one tail, and all tails of a project, may hold; see `TailShares`. Alone in an isolate, a tail
 * may hold 6 MiB, and the tails of a project 8 MiB of 12 MiB, which they share with the tails of objects.
 */
const WEIGHT = 1;
const PROJECT_WEIGHT = 2;

/**
 * Bounds what the tails of Loki's clients buffer in an isolate. These clients acknowledge nothing, and the runtime does not state
 * how much of a socket is unread, so all bytes that a tail has sent count until its connection has ended.
 */
export class LokiTailMemory {
  readonly #shares: TailShares;
  readonly #projects = new Map<TailShare, string>();

  constructor(shares: TailShares) {
    this.#shares = shares;
  }

  /** @param owner is in memory as long as the tail is: a request of a lost client ends without notice */
  open(projectId: string, owner: object): UnreadBytes {
    // Tails whose memory was released, because the runtime had ended their requests.
    for (const share of this.#projects.keys()) if (share.tails === 0) this.#projects.delete(share);
    const share = this.#shares.join(crypto.randomUUID(), owner);
    share.tails = 1;
    this.#projects.set(share, projectId);
    const roomOf = () => this.#roomOf(share, projectId);
    return {
      get room() {
        return roomOf();
      },
      hold: (bytes) => share.hold(bytes),
      leave: () => {
        share.leave();
        this.#projects.delete(share);
      },
    };
  }

  #roomOf(share: TailShare, projectId: string): number {
    let ofProject = 0;
    for (const [other, project] of this.#projects) if (project === projectId) ofProject += other.bytes;
    const shared = Math.min(share.room(share.bytes, WEIGHT), share.room(ofProject, PROJECT_WEIGHT));
    return Math.max(shared, share.floor() - share.bytes);
  }
}
