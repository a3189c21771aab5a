/** Nanoseconds a call, and the rate of delivery; each client in a separate process, one after the other. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";

const HERE = import.meta.dirname;
/** Rounds over all clients. The best median of each counts, because other load only ever adds time. */
const ROUNDS = 3;
const CLIENTS = [
  "taffrail",
  "pino",
  "pino + redact",
  "winston",
  "logtape",
  "loglayer",
  "consola",
  "axiom",
  "logtail",
  "opentelemetry",
  "evlog",
];
const CASES = ["gated", "small", "nested"] as const;

type Figures = Partial<Record<(typeof CASES)[number], { median: number; best: number }>>;

export interface Delivery {
  rate: number;
  cpuUs: number;
  requests: number;
  dropped: number;
  pending: number;
}

export interface SpeedResults {
  /** Nanoseconds a call. */
  calls: Record<string, Figures>;
  delivery: Delivery;
}

export async function measureSpeed(): Promise<SpeedResults> {
  const best = new Map<string, Figures>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const client of CLIENTS) best.set(client, lower(best.get(client) ?? {}, measure(client)));
  }
  return { calls: Object.fromEntries(best), delivery: await measureDelivery() };
}

export function speedTable({ calls, delivery }: SpeedResults): string {
  const rows = Object.entries(calls).map(
    ([client, figures]) => `| ${client} | ${CASES.map((name) => shown(figures[name])).join(" | ")} |`,
  );
  const { rate, cpuUs, requests, dropped, pending } = delivery;
  return `Nanoseconds a call, median (best); small: 4 members, nested: 600 B. Only taffrail and pino + redact redact.

| client | gated | small | nested |
|---|---|---|---|
${rows.join("\n")}

Delivery to a sink that answers 201, gzip on: ${Math.round(rate).toLocaleString("en")} entries/s, ${cpuUs.toFixed(2)} us \
of CPU an entry, ${requests} requests, ${dropped} dropped, ${pending} left`;
}

async function measureDelivery(): Promise<Delivery> {
  const sink = spawn(process.execPath, [path.join(HERE, "sink.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [port] = await once(sink.stdout.setEncoding("utf8"), "data");
    const args = [path.join(HERE, "delivery.mjs"), String(port).trim()];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  } finally {
    sink.kill();
  }
}

function measure(client: string): Figures {
  try {
    return JSON.parse(execFileSync(process.execPath, [path.join(HERE, "one.mjs"), client], { encoding: "utf8" }));
  } catch (error) {
    console.error(`${client} could not be measured: ${error instanceof Error ? error.message.split("\n")[0] : error}`);
    return {};
  }
}

function lower(a: Figures, b: Figures): Figures {
  const result: Figures = {};
  for (const name of CASES) {
    const found = [a[name], b[name]].filter((one) => one !== undefined);
    const [first] = found.sort((x, y) => x.median - y.median);
    if (first) result[name] = first;
  }
  return result;
}

function shown(figure: { median: number; best: number } | undefined): string {
  if (!figure) return "-";
  const digits = figure.median < 20 ? 1 : 0;
  return `${figure.median.toFixed(digits)} (${figure.best.toFixed(digits)})`;
}
