/**
 * `npm run bench:client`: compares the client library with others. `-- --only speed` measures calls and delivery, `--
 * --only sinks` what arrives at a failing sink, and `--clients LIST` only some clients. `--out FILE` writes the results
 * as JSON. Without it, a whole run writes bench/client/results.json and docs/client/benchmarks.md, and any other run
 * writes nothing.
 */
import { writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../scripts/lib/paths.ts";
import { machine } from "../machine.ts";
import { publish } from "../publish.ts";
import { install, versions } from "./install.ts";
import { measureSinks, type Shipper, sinkTable } from "./sinks.ts";
import { measureSpeed, speedTable } from "./speed.ts";

const PARTS = ["speed", "sinks"];
const { values } = parseArgs({
  options: { only: { type: "string" }, out: { type: "string" }, clients: { type: "string" } },
});
const parts = values.only?.split(",") ?? PARTS;
if (parts.some((part) => !PARTS.includes(part))) {
  console.error(`--only takes some of ${PARTS.join(",")}`);
  process.exit(2);
}

// The measured processes wait to be ended.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
install();
const here = machine();
const results: Record<string, unknown> = { machine: here, versions: versions() };
const tables: string[] = [];
if (parts.includes("speed")) {
  const speed = await measureSpeed();
  results.speed = speed;
  tables.push(speedTable(speed));
}
if (parts.includes("sinks")) {
  // By a computed name, because these plain JavaScript files use packages without types in the repository.
  const file = path.join(import.meta.dirname, "shippers.mjs");
  const { SHIPPERS }: { SHIPPERS: Record<string, Omit<Shipper, "name">> } = await import(file);
  const shippers = Object.entries(SHIPPERS)
    .map(([name, { how, none }]): Shipper => ({ name, how, ...(none === undefined ? {} : { none }) }))
    .filter(({ name }) => values.clients?.split(",").includes(name) ?? true);
  const sinks = await measureSinks(shippers);
  results.sinks = sinks;
  tables.push(sinkTable(shippers, sinks));
}
const isWhole = parts.length === PARTS.length && values.clients === undefined;
const out = values.out ?? (isWhole ? path.join(import.meta.dirname, "results.json") : undefined);
if (out !== undefined) writeFileSync(out, `${JSON.stringify(results, null, 2)}\n`);
const { date, commit, cpu, cores, node, yardstick } = here;
const parsed = `JSON.parse of an entry takes ${yardstick.parse.toFixed(2)} us, JSON.stringify ${yardstick.stringify.toFixed(2)} us`;
const shown = [`${date}, commit ${commit}: ${cpu}, ${cores} cores, Node ${node}; ${parsed}.`, ...tables].join("\n\n");
if (isWhole && values.out === undefined) publish(path.join(ROOT, "docs", "client", "benchmarks.md"), shown);
console.log(`\n${shown}`);
