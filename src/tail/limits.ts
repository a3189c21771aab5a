/** Bounds of a live tail. Those that a client sees are in `docs/tail.md`. */
export const TAIL_LIMITS = {
  /** Entries of one frame ... */
  frameEntries: 500,
  /** ... and its characters, unless a single entry alone has more. */
  frameCharacters: 512 * 1024,
  /** Entries that may have been sent without being acknowledged. */
  unackedEntries: 10_000,
  /**
   * The same in characters, so that readers that stand still cannot fill the object's memory (128 MiB). A client that
   * acknowledges every 1,000 entries must be able to get on, so the lower bound counts only from there.
   */
  unackedCharacters: 8 * 1024 * 1024,
  unackedCharactersMost: 32 * 1024 * 1024,
  /** Entries after which a client acknowledges at the latest. */
  ackEveryEntries: 1000,
  /** Characters of a message from a client. An acknowledgement has about 30. */
  messageCharacters: 1024,
  /** Bytes of a tail's filter as JSON: it lives in the socket's attachment, of which older runtimes take 2,048. */
  filterBytes: 1024,
  /** Tails that a workspace may have at a time. */
  tails: 500,
} as const;

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
} as const;
