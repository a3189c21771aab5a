import { signal } from "@preact/signals";
import { type BrowserLogger, createLogger } from "taffrail/browser";
import type { ShopAction } from "./code.ts";

/** The route of the worker that holds the key; see src/routes/site/sandbox.ts. */
export const PROXY_URL = "/playground/logs";
/** Milliseconds between two looks at what has become of the entries. */
const LOOK_MS = 250;

export interface ShopCounts {
  pending: number;
  delivered: number;
  dropped: number;
}

/** What has become of the entries of this page. */
export const counts = signal<ShopCounts>({ pending: 0, delivered: 0, dropped: 0 });
/** What went wrong last, in the library's words. */
export const problem = signal<string | null>(null);

let logger: BrowserLogger | undefined;
let looking: ReturnType<typeof setInterval> | undefined;

/** One for the page, as an application has it; made at the first press, for it listens to the page from then on. */
function shopLogger(): BrowserLogger {
  logger ??= createLogger({
    url: PROXY_URL,
    onError: ({ message }) => {
      problem.value = message;
    },
    onDrop: (entries, reason) => {
      problem.value = `${entries.length} given up: ${reason}`;
    },
  });
  return logger;
}

export function logAction({ category, type, level, message, data }: ShopAction): void {
  problem.value = null;
  // SAFETY: the actions name built-in categories with types of their own.
  const scope = shopLogger().category(category as "custom", type);
  scope[level](message, data);
  look();
}

/** Sends at once what waits. */
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
