/**
 * `npm run bench`: compares the service as `npm start` serves it with a floor on the same runtime. Prints a table and
 * writes `bench/results.json`; see docs/benchmarks.md. Exits with 1 if a response was wrong or a stored entry is
 * missing, because figures of wrong work are invalid. A missed target is reported and is not a failure.
 */
import { writeFileSync } from "node:fs";
import { buildAll } from "../scripts/lib/bundle.ts";
import { exitWith } from "../scripts/lib/failure.ts";
import { LoadGenerator } from "./load/generator.ts";
import { machine } from "./machine.ts";
import { type BenchOptions, benchOptions } from "./options.ts";
import { benchAlerts } from "./parts/alerts.ts";
import { benchDoors } from "./parts/doors.ts";
import { benchIngest } from "./parts/ingest.ts";
import { benchLimitCost } from "./parts/limit-cost.ts";
import { benchLimits } from "./parts/limits.ts";
import { benchMemory } from "./parts/memory.ts";
import { benchQuery } from "./parts/query.ts";
import { benchRows } from "./parts/rows.ts";
import { benchTail } from "./parts/tail.ts";
import { benchTargets } from "./parts/targets.ts";
import { faultsOf, type Measured, type Results, verdictsOf } from "./results.ts";
import { jsonOf, publishSections } from "./sections.ts";
import { Workshop } from "./servers.ts";
import { tableOf } from "./table.ts";

for (const [signal, number] of [
  ["SIGINT", 2],
  ["SIGTERM", 15],
  ["SIGHUP", 1],
] as const) {
  // Ends child processes, too: runtime and load generator end with this process.
  process.on(signal, () => process.exit(128 + number));
}

const results = await bench(process.argv.slice(2)).catch(exitWith);
console.log(`\n${tableOf(results)}`);
process.exit(results.faults.length > 0 ? 1 : 0);

async function bench(args: readonly string[]): Promise<Results> {
  const options = benchOptions(args);
  const startedAt = performance.now();
  const here = machine();
  await buildAll();
  const workshop = new Workshop();
  const generator = new LoadGenerator();
  // Paths of this machine are no conditions of a measurement.
  const { out, publish, victorialogs: _victorialogs, state: _state, ...shown } = options;
  const measured = { machine: here, options: shown, ...(await measure(options, workshop, generator)) };
  generator.stop();
  const timed = { ...measured, tookSeconds: (performance.now() - startedAt) / 1000 };
  const results: Results = { ...timed, verdicts: verdictsOf(timed), faults: faultsOf(timed) };
  if (out !== null) writeFileSync(out, jsonOf(results));
  if (publish) publishSections(results);
  return results;
}

async function measure(options: BenchOptions, workshop: Workshop, generator: LoadGenerator): Promise<Measured> {
  const measured: Measured = {};
  for (const part of options.parts) {
    if (part === "ingest") {
      measured.ingest = await benchIngest(workshop, generator, options, (row) =>
        progress(
          `${row.batch} a batch, ${row.connections} connections, ${row.contender}`,
          `${Math.round(row.entriesPerSecond)} entries/s`,
        ),
      );
    } else if (part === "doors") {
      measured.doors = await benchDoors(workshop, generator, options, (row) =>
        progress(
          `${row.format}, ${row.batch} a request, ${row.contender}`,
          `${Math.round(row.entriesPerSecond)} entries/s`,
        ),
      );
    } else if (part === "limits") {
      measured.limits = await benchLimits(workshop, generator, options);
      measured.limitCost = await benchLimitCost(workshop, generator, options);
    } else if (part === "query" || part === "tiers") {
      const tiers = part === "query" ? "recent" : "both";
      measured[part] = await benchQuery(workshop, generator, options, tiers, (row) =>
        progress(row.name, `${row.medianMs.toFixed(1)} ms`),
      );
    } else if (part === "tail") {
      measured.tail = await benchTail(workshop, generator, options, (row) =>
        progress(`${row.tails} tails`, `ingest p99 ${row.ingestP99Ms.toFixed(1)} ms`),
      );
    } else if (part === "alerts") {
      measured.alerts = await benchAlerts(workshop, generator, options, (row) =>
        progress(
          `${row.rules} rules at ${row.aimedEntriesPerSecond} entries/s`,
          `ingest p50 ${row.ingestP50Ms.toFixed(1)} ms, decided p99 ${row.decidedP99Ms ?? "-"} ms`,
        ),
      );
    } else if (part === "memory") {
      measured.memory = await benchMemory();
      for (const { load, heapMiB, buffersMiB } of measured.memory.loads) {
        progress(load, `${Math.round(heapMiB + buffersMiB)} MiB`);
      }
    } else if (part === "targets") {
      measured.targets = await benchTargets(workshop, options, progress);
    } else {
      measured.rows = await benchRows(workshop, (row) =>
        progress(row.pace, `${row.rowsPerEntry.toFixed(3)} rows an entry`),
      );
    }
  }
  return measured;
}

function progress(what: string, figure: string): void {
  console.log(`${what}: ${figure}`);
}
