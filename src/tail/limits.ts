/** Bounds of a live tail. Those that a client sees are in `docs/tail.md`. */
export const TAIL_LIMITS = {
  /** Entries of one frame ... */
  frameEntries: 500,
  /** ... and its characters, unless a single entry alone has more: a frame has to fit where many share the memory. */
  frameCharacters: 128 * 1024,
  /** Entries that may have been sent without being acknowledged. */
  unackedEntries: 10_000,
  /**
   * The same in bytes of one tail. A client that acknowledges every 1,000 entries must be able to get on, so the lower bound
   * counts only from there.
   */
  unackedBytes: 4 * 1024 * 1024,
  unackedBytesMost: 6 * 1024 * 1024,
  /** Entries after which a client acknowledges at the latest. */
  ackEveryEntries: 1000,
  /** Characters of a message from a client. An acknowledgement has about 30. */
  messageCharacters: 1024,
  /** Bytes of a tail's filter as JSON: it lives in the socket's attachment, of which older runtimes take 2,048. */
  filterBytes: 1024,
} as const;

/** What the tails of one workspace, and of one reader in it, may come to. */
export interface TailQuota {
  /** Tails at a time. */
  tails: number;
  /** Tails at a time of one reader: an API key, a user, in the sandbox a client address. */
  readerTails: number;
  /**
   * How many times of what is free all tails may hold together, in bytes sent and not acknowledged; see `TailShares`. Alone
   * in an isolate that is `weight / (1 + weight)` of 12 MiB.
   */
  weight: number;
  /** The same for the tails of one reader. */
  readerWeight: number;
}

/** Alone: 10.7 MiB, of which one reader has 9.6. */
export const TAIL_QUOTA: TailQuota = { tails: 500, readerTails: 400, weight: 8, readerWeight: 4 };

/** The sandbox's, where anyone may open tails. Alone: 4 MiB, of which one address has 1.3. */
export const SANDBOX_TAIL_QUOTA: TailQuota = { tails: 50, readerTails: 10, weight: 1 / 2, readerWeight: 1 / 8 };

/** Milliseconds in which a client is told how far its tail has come, if that is further than it was told before. */
export const TAIL_PROGRESS_MS = 10_000;

/** Milliseconds without an acknowledgement after which a tail may be closed while others wait for room. */
export const TAIL_STALL_MS = 30_000;

/**
 * Milliseconds without an acknowledgement after which the connection of a closed tail may be ended while others wait for
 * room. More than the 10 s that the local runtime takes to end one by itself.
 */
export const TAIL_CLOSING_MS = 20_000;

/** Milliseconds for which a ticket may be used. */
export const TICKET_LIFETIME_MS = 60_000;

/** Codes that a tail's socket is closed with. */
export const TAIL_CLOSE = {
  /** Its key, session, membership, project or workspace has ended; the reason is an error code. */
  ended: 4001,
  /** The client is too far behind with its acknowledgements; the reason says where to go on: `since=<seq>`. */
  behind: 4008,
  /** The client sent something that is no message of the protocol (RFC 6455). */
  badMessage: 1008,
  /** A fault of the service; the client comes back with `since` (RFC 6455). */
  fault: 1011,
  /** The service stops or restarts; the client comes back with `since` (RFC 6455). */
  stopping: 1001,
} as const;
