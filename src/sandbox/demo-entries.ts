import { createHash } from "node:crypto";
import type { Entry, Level } from "../logs/entry.ts";
import { RESET_EVERY_MS } from "./sandbox.ts";

/** One entry of a story; `afterMs` counts from the previous entry. */
export type Step = readonly [
  afterMs: number,
  level: Level,
  category: string,
  type: string,
  message: string,
  data: Record<string, unknown>,
];

/** The entries of one trace of a small web shop. `n` varies the values. */
export type Story = (n: number) => readonly Step[];

const PRODUCTS = ["brass compass", "wool cap", "oilskin coat", "ship's lantern", "hemp rope"] as const;
const REGIONS = ["eu-west", "us-east", "ap-south"] as const;

const browse: Story = (n) => {
  const product = pick(PRODUCTS, n);
  const path = `/products/${100 + (n % 40)}`;
  const took = 18 + (n % 60);
  return [
    [0, "debug", "http", "request", `GET ${path}`, { method: "GET", path, region: pick(REGIONS, n) }],
    [2, "trace", "cache", n % 3 === 0 ? "miss" : "hit", `Looked up ${product}`, { key: `product:${n % 40}` }],
    [9, "debug", "database", "query", "Read the product", { table: "products", rows: 1, durationMs: 7 }],
    [1, "trace", "cache", "set", `Kept ${product} for 5 minutes`, { key: `product:${n % 40}`, ttlSeconds: 300 }],
    [took - 12, "info", "http", "response", `GET ${path} 200 in ${took} ms`, { path, status: 200, durationMs: took }],
  ];
};

const checkout: Story = (n) => {
  const order = { id: 9000 + n, items: 1 + (n % 4), total: 19.9 + (n % 50) };
  return [
    [0, "debug", "http", "request", "POST /checkout", { method: "POST", path: "/checkout", region: pick(REGIONS, n) }],
    [4, "debug", "auth", "token-refresh", "Refreshed the session's access token", { userId: n % 60 }],
    [11, "info", "database", "transaction", `Wrote order ${order.id}`, { order, statements: 4, durationMs: 23 }],
    [26, "info", "billing", "invoice", `Invoice for order ${order.id} written`, { order, currency: "EUR" }],
    [3, "debug", "queue", "enqueue", "Mail to the customer queued", { queue: "mail", order: { id: order.id } }],
    [6, "log", "cache", "invalidate", "Stock levels have changed", { keys: order.items }],
    [2, "info", "http", "response", "POST /checkout 201 in 52 ms", { path: "/checkout", status: 201, durationMs: 52 }],
    [240, "trace", "queue", "dequeue", "Took a mail from the queue", { queue: "mail", waitedMs: 243 }],
    [85, "info", "queue", "process", `Order confirmation ${order.id} sent`, { queue: "mail", attempt: 1 }],
  ];
};

const gatewayTimeout: Story = (n) => {
  const order = { id: 9000 + n, total: 19.9 + (n % 50) };
  const waited = 5000 + (n % 400);
  return [
    [0, "debug", "http", "request", "POST /checkout", { method: "POST", path: "/checkout", region: pick(REGIONS, n) }],
    [12, "debug", "database", "connection", "Took connection 7 of 10 from the pool", { pool: "orders", inUse: 7 }],
    [640, "warn", "database", "slow-query", "Reserving stock took 612 ms", { table: "stock", durationMs: 612 }],
    [30, "warn", "queue", "retry", "Payment tried again", { queue: "payments", attempt: 2, order }],
    [
      waited,
      "error",
      "billing",
      "payment",
      "Payment gateway timed out",
      { order, gateway: "acme-pay", waitedMs: waited },
    ],
    [2, "error", "queue", "dead-letter", `Payment of order ${order.id} given up`, { queue: "payments", attempts: 3 }],
    [
      3,
      "error",
      "http",
      "response",
      "POST /checkout 504",
      { path: "/checkout", status: 504, durationMs: waited + 690 },
    ],
  ];
};

const account: Story = (n) => {
  const userId = n % 60;
  return [
    [0, "debug", "http", "request", "GET /account", { method: "GET", path: "/account" }],
    [3, "debug", "http", "redirect", "GET /account 302 to /login", { status: 302, to: "/login" }],
    [9400, "info", "auth", "registration", `User ${userId} registered`, { userId, method: "password" }],
    [60, "info", "auth", "login", `User ${userId} signed in`, { userId, method: "password", mfa: n % 2 === 0 }],
    [
      4200,
      "warn",
      "auth",
      "permission-denied",
      `User ${userId} may not see invoices of others`,
      { userId, status: 403 },
    ],
    [31000, "info", "auth", "logout", `User ${userId} signed out`, { userId }],
  ];
};

const assistant: Story = (n) => {
  const product = pick(PRODUCTS, n);
  const tokens = { in: 410 + (n % 90), out: 120 + (n % 70) };
  return [
    [0, "info", "ai", "interaction", `Customer asks about the ${product}`, { channel: "chat", turn: 1 + (n % 5) }],
    [40, "debug", "ai", "embedding", "Question embedded", { model: "embed-small", dimensions: 768 }],
    [25, "log", "ai", "step", "Plan: look the product up, then answer", { step: 1 }],
    [90, "debug", "ai", "tool-call", "Called tool search_products", { tool: "search_products", args: { q: product } }],
    [70, "log", "ai", "action", `Showed the page of the ${product}`, { productId: 100 + (n % 40) }],
    [900, "info", "ai", "llm", "Model answered", { model: "chat-medium", tokens, durationMs: 870 }],
    [5, "info", "ai", "response", `Told the customer about the ${product}`, { characters: 380, finish: "stop" }],
    [300, "debug", "ai", "summary", "Conversation summarized", { turns: 1 + (n % 5), characters: 140 }],
  ];
};

const stocktaking: Story = (n) => [
  [
    0,
    "info",
    "inventory",
    "stocktaking",
    `Counted shelf ${n % 24}`,
    { shelf: n % 24, products: 12, differences: n % 3 },
  ],
  [14, "debug", "system", "debug", "Garbage collector ran", { freedBytes: 48_000_000, pauseMs: 11 }],
  [30, "trace", "cache", "evict", "Least recently used products dropped", { keys: 20 }],
  [400, "log", "custom", "log", "Nightly figures are up to date", { tables: ["orders", "stock"] }],
];

/** Stories of normal operation, mostly browsing. */
export const VISITS: readonly Story[] = [
  browse,
  checkout,
  browse,
  assistant,
  browse,
  gatewayTimeout,
  account,
  stocktaking,
];

/** The shop runs out of memory and restarts with a migrated database. */
export const CRASH: Story = () => [
  [0, "warn", "system", "warn", "Memory is at 92 %", { usedBytes: 494_000_000, limitBytes: 536_870_912 }],
  [45_000, "error", "system", "error", "Out of memory while resizing images", { worker: 3, image: "coat-large.png" }],
  [120, "fatal", "system", "error", "Worker 3 is gone; the process ends", { worker: 3, exitCode: 137 }],
  [300, "info", "system", "shutdown", "Shop stopped", { inFlight: 2, reason: "out of memory" }],
  [8000, "info", "system", "startup", "Shop started", { version: "4.2.1", region: "eu-west" }],
  [900, "info", "database", "migration", "Migration 0042 applied", { name: "0042_smaller_images", durationMs: 830 }],
  [50, "info", "system", "info", "Ready after 950 ms", { port: 8080, workers: 4 }],
];

function pick<T>(list: readonly [T, ...T[]], n: number): T {
  return list[n % list.length] ?? list[0];
}

/** Traces in six hours: one every three minutes. */
const TRACES = 120;
const STEP_MS = RESET_EVERY_MS / TRACES;
/** Index of the trace in which the shop crashes, an hour and a half before the end. */
const CRASH_AT = 90;
/** Visitors of the shop. Each returns regularly with the same session. */
const SESSIONS = 16;

/** Hex characters of a trace id and of a span id (W3C Trace Context). */
const TRACE_ID_LENGTH = 32;
const SPAN_ID_LENGTH = 16;

/**
 * Returns the entries of a new sandbox: several hundred over the six hours before `now`, in order of time. They contain
 * every level and every type of every built-in category, and are linked by trace and session.
 */
export function demoEntries(now: number): Entry[] {
  const entries: Entry[] = [];
  for (let n = 0; n < TRACES; n++) {
    // SAFETY: the index is below the length of a list that is not empty.
    const story: Story = n === CRASH_AT ? CRASH : (VISITS[n % VISITS.length] as Story);
    const traceId = digest(`${now}:${n}`).slice(0, TRACE_ID_LENGTH);
    const session = `ses_${digest(`visitor ${n % SESSIONS}`).slice(0, 12)}`;
    let at = now - RESET_EVERY_MS + n * STEP_MS;
    story(n).forEach(([afterMs, level, category, type, message, data], step) => {
      at += afterMs;
      const spanId = digest(`${traceId}:${step}`).slice(0, SPAN_ID_LENGTH);
      const timestamp = new Date(at).toISOString();
      entries.push({ timestamp, level, category, type, message, session, traceId, spanId, data });
    });
  }
  return entries;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
