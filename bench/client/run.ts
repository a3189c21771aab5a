/** `npm run bench:client`: the client library beside others, each in a process of its own, one after the other. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";

const HERE = import.meta.dirname;
const SDK = path.resolve(HERE, "../../sdk");
/** How often the round of all clients is made; the best median of each counts, as other load only ever adds. */
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

type Figures = Partial<Record<"gated" | "small" | "nested", { median: number; best: number }>>;

if (!existsSync(path.join(HERE, "node_modules"))) {
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: HERE, stdio: "inherit" });
}
execFileSync(process.execPath, [path.resolve(SDK, "../node_modules/tsdown/dist/run.mjs")], {
  cwd: SDK,
  stdio: "ignore",
});

const best = new Map<string, Figures>();
for (let round = 0; round < ROUNDS; round++) {
  for (const client of CLIENTS) {
    const figures = measure(client);
    const before = best.get(client);
    best.set(client, before ? lower(before, figures) : figures);
  }
}

console.log(
  "\nNanoseconds a call, median (best); small: 4 members, nested: 600 B. Only taffrail and pino + redact redact.\n",
);
console.log("| client | gated | small | nested |\n|---|---|---|---|");
for (const [client, { gated, small, nested }] of best) {
  console.log(`| ${client} | ${[gated, small, nested].map(shown).join(" | ")} |`);
}

const sink = spawn(process.execPath, [path.join(HERE, "sink.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
const [port] = await once(sink.stdout.setEncoding("utf8"), "data");
const delivery: { rate: number; cpuUs: number; requests: number; dropped: number; pending: number } = JSON.parse(
  execFileSync(process.execPath, [path.join(HERE, "delivery.mjs"), String(port).trim()], { encoding: "utf8" }),
);
sink.kill();
const { rate, cpuUs, requests, dropped, pending } = delivery;
console.log(
  `\nDelivery to a sink that answers 201, gzip on: ${Math.round(rate).toLocaleString("en")} entries/s, ` +
    `${cpuUs.toFixed(2)} us of CPU an entry, ${requests} requests, ${dropped} dropped, ${pending} left`,
);

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
  for (const name of ["gated", "small", "nested"] as const) {
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
