import type { Random } from "../faults/random.ts";

/** An entry as a service sends it. */
export interface AgentEntry {
  timestamp: string;
  level: string;
  service: string;
  host: string;
  message: string;
  category?: string;
  type?: string;
  traceId?: string;
  spanId?: string;
  data?: Record<string, unknown>;
}

export const HOUR = 3_600_000;
export const MINUTE = 60_000;

export const HOSTS = ["eu-1", "eu-2", "eu-3", "eu-4", "us-1", "us-2"] as const;
const PLANS = ["free", "free", "free", "pro", "team"] as const;
const ROUTES = [
  ["gateway", "GET /", 8],
  ["catalog", "GET /products/:id", 24],
  ["catalog", "GET /products", 41],
  ["search", "GET /search", 70],
  ["checkout", "POST /cart/items", 33],
  ["checkout", "POST /cart/apply-coupon", 38],
  ["checkout", "POST /orders", 120],
  ["inventory", "GET /stock/:sku", 12],
  ["auth", "POST /login", 90],
  ["auth", "POST /token/refresh", 15],
] as const;

/** Entries of requests of a day: more by day than by night, some client errors, few failures. */
export function* requests(random: Random, count: number, end: number): Generator<AgentEntry> {
  for (let at = 0; at < count; at++) {
    // Two draws, the later one more likely: the last hours are busier.
    const share = Math.max(random.int(0, 1_000_000), random.int(0, 1_000_000)) / 1_000_000;
    const time = end - Math.floor(24 * HOUR * (1 - 0.5 * share - (0.5 * random.int(0, 1_000_000)) / 1_000_000));
    const [service, route, usual] = random.pick(ROUTES);
    const host = random.pick(HOSTS);
    const ms = Math.max(1, Math.round((usual * random.int(40, 260)) / 100));
    const status = statusOf(random, service);
    const level = status >= 500 ? "error" : status >= 400 ? "warn" : "info";
    const user = { id: `u-${random.int(1, 6000)}`, plan: random.pick(PLANS) };
    yield {
      timestamp: iso(time),
      ...{ level, service, host, category: "http", type: "request" },
      message: `${route} answered ${status} in ${ms} ms`,
      traceId: traceOf(random),
      data: { route, status, ms, region: host.slice(0, 2), user },
    };
  }
}

function statusOf(random: Random, service: string): number {
  if (random.oneIn(900)) return 502;
  if (service === "auth" && random.oneIn(25)) return 401;
  return random.oneIn(30) ? 404 : 200;
}

export function traceOf(random: Random): string {
  return spanOf(random) + spanOf(random);
}

export function spanOf(random: Random): string {
  return hex(random) + hex(random);
}

function hex(random: Random): string {
  return random.int(0, 0xffffffff).toString(16).padStart(8, "0");
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}
