import { signal } from "@preact/signals";
import { type BrowserLogger, createLogger } from "taffrail/browser";
import type { ShopAction } from "./code.ts";

/** The worker's route that adds the key; see src/routes/site/sandbox.ts. */
export const PROXY_URL = "/playground/logs";
/** Milliseconds between two updates of the counts. */
const LOOK_MS = 250;

export interface ShopCounts {
  pending: number;
  delivered: number;
  dropped: number;
}

/** Delivery counts of this page's entries. */
export const counts = signal<ShopCounts>({ pending: 0, delivered: 0, dropped: 0 });
/** The latest error message of the library. */
export const problem = signal<string | null>(null);

let logger: BrowserLogger | undefined;
let looking: ReturnType<typeof setInterval> | undefined;

/** The page's logger, created on first use, because it adds listeners to the page. */
function shopLogger(): BrowserLogger {
  logger ??= createLogger({
    url: PROXY_URL,
    onError: ({ message }) => {
      problem.value = message;
    },
    onDrop: (entries, reason) => {
      problem.value = `${entries.length} dropped: ${reason}`;
    },
  });
  return logger;
}

export function logAction({ category, type, level, message, data }: ShopAction): void {
  problem.value = null;
  // SAFETY: the actions use built-in categories with their types.
  const scope = shopLogger().category(category as "custom", type);
  scope[level](message, data);
  look();
}

/** Sends queued entries immediately. */
export async function sendNow(): Promise<void> {
  await shopLogger().flush();
  count();
}

function look(): void {
  count();
  looking ??= setInterval(() => {
    count();
    if (counts.value.pending > 0) return;
    clearInterval(looking);
    looking = undefined;
  }, LOOK_MS);
}

function count(): void {
  const { pending, delivered, dropped } = shopLogger().stats();
  const before = counts.value;
  if (before.pending === pending && before.delivered === delivered && before.dropped === dropped) return;
  counts.value = { pending, delivered, dropped };
}
