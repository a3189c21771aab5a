/** Limits of a tail. `docs/tail.md` describes those that clients see. */
export const TAIL_LIMITS = {
  /** Entries of one frame. */
  frameEntries: 500,
  /** Characters of one frame, unless a single entry has more. Frames must fit if many tails share the memory. */
  frameCharacters: 128 * 1024,
  /** Entries sent and not acknowledged. */
  unackedEntries: 10_000,
  /**
   * Bytes sent and not acknowledged by one tail. A client that acknowledges every 1,000 entries must be able to
   * continue, so this bound applies only from 1,000 unacknowledged entries on. `maxUnackedBytes` always applies.
   */
  unackedBytes: 4 * 1024 * 1024,
  maxUnackedBytes: 6 * 1024 * 1024,
  /** Entries after which a client must acknowledge at the latest. */
  ackEveryEntries: 1000,
  /** Characters of a client's message. An acknowledgement has about 30. */
  messageCharacters: 1024,
  /**
   * Bytes of a tail's filter as JSON. It is stored in the socket's attachment, which is limited to 2,048 bytes in older
   * runtimes.
   */
  filterBytes: 1024,
} as const;

/** Limits for the tails of one workspace and of one reader in it. */
export interface TailQuota {
  /** Open tails. */
  tails: number;
  /** Open tails of one reader: an API key, a user or, in the sandbox, a client IP. */
  readerTails: number;
  /**
   * Factor of the free memory that all tails may hold together, in bytes sent and not acknowledged; see `TailShares`.
   * An object that is alone in its isolate may hold `weight / (1 + weight)` of 12 MiB.
   */
  weight: number;
  /** Like `weight`, for the tails of one reader. */
  readerWeight: number;
}

/** Limits of ordinary workspaces. Alone in an isolate: 10.7 MiB, of which one reader may hold 9.6. */
export const TAIL_QUOTA: TailQuota = { tails: 500, readerTails: 400, weight: 8, readerWeight: 4 };

/**
 * Limits of the sandbox, which is open to every client. Alone in an isolate: 4 MiB, of which one client IP may hold
 * 1.3.
 */
export const SANDBOX_TAIL_QUOTA: TailQuota = { tails: 50, readerTails: 10, weight: 1 / 2, readerWeight: 1 / 8 };

/** Milliseconds within which a client is sent a progress report if its tail has moved. */
export const TAIL_PROGRESS_MS = 10_000;

/** Milliseconds without an acknowledgement after which a tail may be closed if others wait for memory. */
export const TAIL_STALL_MS = 30_000;

/**
 * Milliseconds without an acknowledgement after which the connection of a closed tail may be ended if others wait for
 * memory. More than the 10 s after which the local runtime ends such a connection.
 */
export const TAIL_CLOSING_MS = 20_000;

/** Milliseconds for which a ticket is valid. */
export const TICKET_LIFETIME_MS = 60_000;

/** WebSocket close codes of a tail. */
export const TAIL_CLOSE = {
  /** The key, session, membership, project or workspace has ended. The reason is an error code. */
  ended: 4001,
  /** The client is too far behind with its acknowledgements. The reason states where to continue: `since=<seq>`. */
  behind: 4008,
  /** The client sent a message that is not an acknowledgement (RFC 6455). */
  badMessage: 1008,
  /** The service has a fault; the client reconnects with `since` (RFC 6455). */
  fault: 1011,
  /** The service stops or restarts; the client reconnects with `since` (RFC 6455). */
  stopping: 1001,
} as const;
