import type { Random } from "../random.ts";

/** What the harness of alerts sends. It follows from the random numbers and the clock. */

const SERVICES = ["api", "web", "db", "auth", "mail", "cron"];
const WORDS = ["red", "blue", "green", "black", "white", "amber", "cyan", "teal", "lime", "rose", "gold", "gray"];

/** Returns the milliseconds before a commit: mostly some tens, sometimes a pause that ends windows. */
export function waitBefore(random: Random): number {
  const kind = below(random, 1000);
  if (kind === 0) return below(random, 150_000);
  if (kind < 20) return below(random, 4000);
  // Commits of the same millisecond, too.
  return below(random, 60);
}

/** Returns the entries of one commit. Bursts last some seconds. */
export function entriesOf(random: Random, now: number): Record<string, unknown>[] {
  return Array.from({ length: 1 + below(random, 3) }, () => {
    const isBurst = Math.floor(now / 20_000) % 5 === 0;
    const service = SERVICES[below(random, isBurst ? 2 : SERVICES.length)];
    const level = below(random, isBurst ? 3 : 12) === 0 ? "error" : below(random, 4) === 0 ? "warn" : "info";
    const isOdd = below(random, 20) === 0;
    return {
      level,
      message: `${WORDS[below(random, 3)]} request ${below(random, 1000)} ${below(random, 2000) === 0 ? words(random) : "done"}`,
      timestamp: now - (below(random, 3) === 0 ? below(random, 20_000) : 0),
      service,
      route: `/r/${below(random, 8)}`,
      ms: isOdd ? "slow" : isBurst ? 200 + below(random, 2000) : below(random, 400),
      share: (below(random, 1000) - 500) / 8,
      user: `u${below(random, isBurst ? 400 : 60)}`,
      tags: below(random, 5) === 0 ? ["a", "b"] : ["a"],
    };
  });
}

/** Returns a text of a pattern that hardly any other entry has. */
function words(random: Random): string {
  return [0, 0, 0].map(() => WORDS[below(random, WORDS.length)]).join(" ");
}

/** Returns a whole number below another one. */
function below(random: Random, end: number): number {
  return random.int(0, end - 1);
}
