import type { Usage } from "./types.ts";

/**
 * Dollars at Cloudflare's list prices, from `docs/scaling.md`, whose table a test compares with these numbers.
 * `ingestPerMillion`: in batches of 50 with an `Idempotency-Key`. `ingestInLargeBatches`: in batches of 1,000.
 */
export const PRICES = {
  ingestPerMillion: 0.15,
  ingestInLargeBatches: 0.01,
  /** Bucket, a GB and month: 30.7 MB of a million entries cost $0.0006 with their rows in D1. */
  storedPerGb: 0.02,
  /** Storage of the workspace object, a GB and month. */
  recentPerGb: 0.2,
} as const;

const GB = 1e9;
const MILLION = 1e6;

export interface CostEstimate {
  /** Dollars of the entries of the last 30 days: in large batches, and in batches of 50. */
  ingest: { least: number; most: number };
  /** Dollars a month for what is stored now. */
  storage: number;
}

/** @param entries of the last 30 days */
export function estimateCost(entries: number, { recent, stored }: Pick<Usage, "recent" | "stored">): CostEstimate {
  return {
    ingest: {
      least: (entries / MILLION) * PRICES.ingestInLargeBatches,
      most: (entries / MILLION) * PRICES.ingestPerMillion,
    },
    storage: (recent.bytes / GB) * PRICES.recentPerGb + ((stored?.bytes ?? 0) / GB) * PRICES.storedPerGb,
  };
}

/** Formats dollars so that small amounts keep a digit: "under $0.01", "$1.40", "$1,200". */
export function dollars(amount: number): string {
  if (amount === 0) return "$0";
  if (amount < 0.01) return "under $0.01";
  const digits = amount < 100 ? 2 : 0;
  return amount.toLocaleString("en-US", {
    style: "currency",
    currency: "USD",
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
