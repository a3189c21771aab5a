import type { AuthorityCheck } from "./authority.ts";
import type { FrameList } from "./frames.ts";
import type { TailQuota } from "./limits.ts";
import type { TailShare } from "./shares.ts";
import type { OfferVerdict, Tail } from "./tail.ts";

/** The ports between the tails of a workspace object and their surroundings, and between the hub and its parts. */

/** Time, so that tests can control it. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Waits for the given time. */
  pause(milliseconds: number): Promise<void>;
}

/** What a host is notified about: the service closed a tail, or a fault. */
export type TailEvent =
  | { event: "closed"; tail: Tail; code: number; reason: string }
  /** `tail` is `null` if the fault concerns no single tail. */
  | { event: "failed"; tail: Tail | null; error: unknown };

/** What tails need of their workspace object. */
export interface TailHost {
  /** The object's share of the isolate's buffer memory. */
  readonly share: TailShare;
  quota(): TailQuota;
  /** Resolves when all writes are on disk. Yields to other requests. */
  durable(): Promise<void>;
  /** Returns the `seq` of a project's newest entry; `null` if the project does not exist. */
  lastSeq(project: number): number | null;
  /**
   * Reads at most `maxEntries` entries after the tail's sent position, outside the object; `null` if the project no
   * longer exists.
   */
  backlog(tail: Tail, maxEntries: number): Promise<FrameList | null>;
  /** Checks the tail's authority with the object's own data. */
  mayRead(tail: Tail): AuthorityCheck;
  /** Checks an authority that has expired. For a session, asks the user object. */
  renewed(tail: Tail): Promise<AuthorityCheck>;
  /** Aborts the object, which ends the connections of all tails and frees their memory. Clients reconnect. */
  abort(): void;
  report(event: TailEvent): void;
}

/** What the parts of the hub may do with a tail. Implemented by `TailHub`. */
export interface TailActions {
  /** Whether the tail's authority has expired. Starts its renewal; the tail gets nothing until then. */
  needsRecheck(tail: Tail): boolean;
  /**
   * Makes a tail live and notifies its client if the tail has reached the newest entry.
   * @returns whether the tail is live now
   */
  promoteToLive(tail: Tail): boolean;
  /** Sends frames that start after the tail's sent position; `undefined` if the socket is gone. */
  offer(tail: Tail, framed: FrameList): OfferVerdict | undefined;
  /** Runs `work`; if the socket throws because the other end is gone, removes only its tail. */
  attempt<T>(tail: Tail, work: () => T): T | undefined;
  /** Closes a tail whose client does not keep up with its acknowledgements. */
  closeBehind(tail: Tail): void;
  /** Closes a tail whose backlog or authority cannot be read. */
  closeBroken(tail: Tail, error: unknown): void;
  /** Aborts the object as the last resort: it cannot end a single connection whose client reads nothing. */
  abortObject(): Promise<void>;
}

/** The readers of backlogs, which resume blocked tails. Implemented by `CatchUp`. */
export interface BacklogReaders {
  /** Whether another tail may start reading its backlog now. */
  readonly hasReader: boolean;
  /** Lets a tail read its backlog. */
  add(tail: Tail): void;
}
