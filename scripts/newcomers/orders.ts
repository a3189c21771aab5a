import { type AgentEntry, HOSTS, iso, MINUTE, spanOf } from "../../test/agents/traffic.ts";
import type { Random } from "../../test/faults/random.ts";

/** Orders of a shop, each a trace of several services, and a release that makes the orders of one provider fail. */

/** Times in epoch milliseconds between which a release with a wrong setting runs. */
export interface Outage {
  from: number;
  to: number;
}

/** The provider that the release waits for too briefly, and how long it waits, milliseconds. */
export const PROVIDER = "nordpay";
export const WRONG_TIMEOUT_MS = 300;
const RIGHT_TIMEOUT_MS = 3000;
/** Versions of payments: before the release, the release, and the one that mends it. */
export const VERSIONS = { before: "5.7.3", wrong: "5.8.0", mended: "5.8.1" } as const;
const TRIES = 2;

/** Providers with their share and the milliseconds within which they answer. */
const PROVIDERS = [
  { name: PROVIDER, weight: 4, fastest: 250, slowest: 900 },
  { name: "cardline", weight: 4, fastest: 90, slowest: 240 },
  { name: "walletry", weight: 2, fastest: 60, slowest: 180 },
] as const;
const WEIGHTED = PROVIDERS.flatMap((provider) => Array.from({ length: provider.weight }, () => provider));

/** What is special about an order that somebody asks about. */
export interface Special {
  order: string;
  /** Milliseconds for which its reservation waits for a lock, and who holds it. */
  lockMs: number;
  job: string;
}

/**
 * Returns the entries of an order: gateway, checkout, inventory, payments, mailer.
 * @param request as the gateway received it
 */
export function orderEntries(
  random: Random,
  request: AgentEntry,
  outage: Outage,
  special: Special | null = null,
): AgentEntry[] {
  const begin = Date.parse(request.timestamp);
  const order = special?.order ?? `ord-${random.int(100_000, 999_999)}`;
  const amount = random.int(500, 24_000) / 100;
  const [gateway, checkout, inventory, payments] = [spanOf(random), spanOf(random), spanOf(random), spanOf(random)];
  const isWrong = begin >= outage.from && begin < outage.to;
  const entries: AgentEntry[] = [];
  const hosts = new Map<string, string>();
  const write = (
    entry: Pick<AgentEntry, "service" | "level" | "message"> & { at: number; span: string; parent?: string },
    data: Record<string, unknown>,
  ): void => {
    const { at, span, parent, ...rest } = entry;
    const { traceId } = request;
    const host = hosts.get(span) ?? random.pick(HOSTS);
    hosts.set(span, host);
    const own = { timestamp: iso(begin + at), host, spanId: span, category: "http", ...rest };
    const shown = { order, ...data, ...(parent ? { parentSpanId: parent } : {}) };
    entries.push({ ...own, ...(traceId ? { traceId } : {}), data: shown });
  };

  let at = random.int(3, 9);
  const reserved = random.int(8, 40) + (special?.lockMs ?? 0);
  if (special) {
    const message = `${order} waits for the lock of ${special.job}`;
    write({ service: "inventory", level: "warn", message, at: at + 6, span: inventory }, { job: special.job });
  }
  at += reserved;
  const items = random.int(1, 5);
  write(
    {
      service: "inventory",
      level: "info",
      message: `${items} items of ${order} reserved`,
      at,
      span: inventory,
      parent: checkout,
    },
    { items, ms: reserved },
  );

  const provider = special ? PROVIDERS[1] : random.pick(WEIGHTED);
  const charged = { provider: provider.name, amount };
  const timeoutMs = isWrong && provider.name === PROVIDER ? WRONG_TIMEOUT_MS : RIGHT_TIMEOUT_MS;
  const chargeFrom = at;
  let isPaid = false;
  for (let attempt = 1; attempt <= TRIES && !isPaid; attempt++) {
    const answers = random.int(provider.fastest, provider.slowest);
    isPaid = answers <= timeoutMs;
    at += Math.min(answers, timeoutMs) + 2;
    if (isPaid) break;
    const message = `${provider.name} has not answered within ${timeoutMs} ms, attempt ${attempt} of ${TRIES}`;
    const tried = { span: spanOf(random), parent: payments };
    write({ service: "payments", level: "warn", message, at, ...tried }, { ...charged, attempt, ms: timeoutMs });
  }
  const paid = isPaid
    ? `${order} charged through ${provider.name}`
    : `charge of ${order} failed: ${provider.name} timed out`;
  write(
    { service: "payments", level: isPaid ? "info" : "error", message: paid, at, span: payments, parent: checkout },
    { ...charged, ms: at - chargeFrom },
  );

  const status = isPaid ? 201 : 502;
  const level = isPaid ? "info" : "error";
  at += random.int(3, 12);
  const placed = isPaid ? `${order} placed` : `${order} not placed: payment failed`;
  write({ service: "checkout", level, message: placed, at, span: checkout, parent: gateway }, { status, ms: at - 2 });
  at += random.int(1, 4);
  const answered = `POST /orders answered ${status} in ${at} ms`;
  const { route, region, user } = request.data ?? {};
  write({ service: "gateway", level, message: answered, at, span: gateway }, { route, status, ms: at, region, user });
  if (isPaid) {
    const mail = { service: "mailer", level: "info", message: `confirmation of ${order} queued` };
    write({ ...mail, at: at + random.int(5, 40), span: spanOf(random), parent: checkout }, {});
  }
  return entries;
}

/** The entries of releases of a day: those of payments, and others that cause nothing. */
export function releases(random: Random, outage: Outage, end: number): AgentEntry[] {
  const started = (service: string, version: string, time: number, data: object): AgentEntry[] =>
    HOSTS.map((host, index) => ({
      timestamp: iso(time + index * random.int(3000, 5000)),
      ...{ level: "info", service, host, category: "system", type: "startup" },
      message: `${service} ${version} started`,
      data: { version, ...data },
    }));
  const payments = (version: string, time: number, timeoutMs: number): AgentEntry[] =>
    started("payments", version, time, {
      tries: TRIES,
      timeoutMs: Object.fromEntries(
        PROVIDERS.map(({ name }) => [name, name === PROVIDER ? timeoutMs : RIGHT_TIMEOUT_MS]),
      ),
    });
  return [
    ...payments(VERSIONS.before, end - 23 * 60 * MINUTE, RIGHT_TIMEOUT_MS),
    ...payments(VERSIONS.wrong, outage.from, WRONG_TIMEOUT_MS),
    ...payments(VERSIONS.mended, outage.to, RIGHT_TIMEOUT_MS),
    ...started("checkout", "12.1.0", outage.from - 190 * MINUTE, { workers: 8 }),
    ...started("catalog", "9.4.0", outage.from - 35 * MINUTE, { workers: 6, cacheMb: 512 }),
    ...started("search", "3.2.1", outage.from - 6 * MINUTE, { workers: 12, shards: 32 }),
    ...started("gateway", "2.0.7", outage.from + 25 * MINUTE, { workers: 16 }),
  ];
}
