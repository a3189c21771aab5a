/** Why a client says that it has dropped entries without a number, which no request contains. */
export const CLIENT_DROP_REASONS = ["queue-full", "closed", "limited", "rejected", "retries", "unknown"] as const;
export type ClientDropReason = (typeof CLIENT_DROP_REASONS)[number];

/** Entries by reason. */
export type ClientDrops = Partial<Record<ClientDropReason, number>>;

/** Entries that a client can say it dropped for a reason. */
export const MAX_DROPPED = 1_000_000_000;
