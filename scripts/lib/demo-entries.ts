/** One entry as the demo sends it. */
export interface DemoEntry {
  timestamp: string;
  level: string;
  category: string;
  type: string;
  message: string;
  session: string;
  traceId: string;
  data: Record<string, unknown>;
}

type Draft = Pick<DemoEntry, "level" | "category" | "type" | "message" | "data">;

const ROUTES = ["/cart", "/checkout", "/orders", "/search", "/profile"] as const;
const REGIONS = ["eu-west", "us-east", "ap-south"] as const;
/** Milliseconds between two entries: 500 of them cover the last 25 minutes. */
const STEP_MS = 3000;

/** Kinds of entries of a web shop; the numbers distinguish entries of one kind. */
const KINDS: readonly ((n: number) => Draft)[] = [
  (n) => ({
    level: "info",
    category: "http",
    type: "response",
    message: `GET ${pick(ROUTES, n)} answered 200 in ${5 + (n % 90)} ms`,
    data: { status: 200, durationMs: 5 + (n % 90), route: pick(ROUTES, n), region: pick(REGIONS, n) },
  }),
  (n) => ({
    level: "debug",
    category: "cache",
    type: n % 3 === 0 ? "miss" : "hit",
    message: `Session ${n % 40} looked up`,
    data: { key: `session:${n % 40}`, region: pick(REGIONS, n) },
  }),
  (n) => ({
    level: "warn",
    category: "database",
    type: "slow-query",
    message: `Query on orders took ${200 + n} ms`,
    data: { table: "orders", durationMs: 200 + n, rows: n % 17 },
  }),
  (n) => ({
    level: "error",
    category: "http",
    type: "response",
    message: `POST /checkout failed: payment gateway timed out after ${1000 + (n % 500)} ms`,
    data: {
      status: 504,
      route: "/checkout",
      order: { id: 9000 + n, total: (n % 80) + 0.99 },
      region: pick(REGIONS, n),
    },
  }),
  (n) => ({
    level: "info",
    category: "auth",
    type: "login",
    message: `User ${n % 60} signed in`,
    data: { userId: n % 60, method: n % 2 === 0 ? "password" : "magic-link" },
  }),
  (n) => ({
    level: "trace",
    category: "queue",
    type: "process",
    message: `Job ${n} of queue mail done`,
    data: { queue: "mail", attempt: 1 + (n % 3) },
  }),
  (n) => ({
    level: "log",
    category: "ai",
    type: "tool-call",
    message: `Assistant called tool ${n % 2 === 0 ? "search" : "calculator"}`,
    data: { model: "small", tokens: 50 + (n % 400) },
  }),
  (n) => ({
    level: n % 5 === 0 ? "fatal" : "info",
    category: "billing",
    type: "invoice",
    message: n % 5 === 0 ? `Invoice ${n} could not be written: disk full` : `Invoice ${n} written`,
    data: { invoice: n, currency: "EUR" },
  }),
];

/** `count` realistic entries of all levels, the newest at `now`. */
export function demoEntries(count: number, now: number): DemoEntry[] {
  return Array.from({ length: count }, (_, n) => ({
    timestamp: new Date(now - (count - 1 - n) * STEP_MS).toISOString(),
    ...pick(KINDS, n)(n),
    session: `ses_${n % 40}`,
    traceId: `trace-${Math.floor(n / 4)}`,
  }));
}

function pick<T>(list: readonly T[], n: number): T {
  // SAFETY: the index is below the length of a list that is not empty.
  return list[n % list.length] as T;
}
