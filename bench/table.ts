import type { QueryResults } from "./parts/query.ts";
import type { Results } from "./results.ts";
import { targetTables } from "./targets/table.ts";
import { aligned, decimal, whole } from "./text-table.ts";
import { slowness, TARGETS_YARDSTICK } from "./yardstick.ts";

/** The results as plain text, for the terminal and docs/benchmarks.md. */
export function tableOf(results: Results): string {
  return [
    head(results),
    ingestTable(results),
    doorsTable(results),
    limitsTable(results),
    limitCostTable(results),
    queryTable(results.query),
    queryTable(results.tiers),
    tailTable(results),
    alertsTable(results),
    rowsTable(results),
    memoryTable(results),
    ...(results.targets === undefined ? [] : targetTables(results.targets)),
    tail(results),
  ]
    .filter((part) => part !== null)
    .join("\n\n");
}

function head({ machine, options, tookSeconds }: Results): string {
  const { date, commit, cpu, cores, memoryGiB, node, workerd, loadBefore, yardstick } = machine;
  const { parse, stringify } = TARGETS_YARDSTICK;
  return [
    `${date}, commit ${commit ?? "unknown"}, ${Math.round(tookSeconds)} s in all`,
    `${cpu}, ${cores} cores, ${memoryGiB} GiB; Node ${node}, workerd ${workerd}; load before ${loadBefore.toFixed(2)}`,
    `Yardstick: JSON.parse of an entry ${yardstick.parse.toFixed(2)} us, JSON.stringify ${yardstick.stringify.toFixed(2)} us; ${parse} and ${stringify} where the targets were set: ${slowness(yardstick).toFixed(2)} times slower here`,
    `${options.rounds} rounds of ${options.seconds} s, medians; the load generator shares the cores`,
  ].join("\n");
}

function ingestTable({ ingest }: Results): string | null {
  if (!ingest) return null;
  const rows = ingest.rows.map((row) => [
    String(row.batch),
    String(row.connections),
    row.contender,
    whole(row.requestsPerSecond),
    whole(row.entriesPerSecond),
    row.ratioToFloor.toFixed(2),
    decimal(row.cpuMicrosPerEntry, row.batch >= 1000 ? 2 : 1),
    decimal(row.allCpuMicrosPerEntry, row.batch >= 1000 ? 2 : 1),
    decimal(row.p50Ms, 1),
    decimal(row.p99Ms, 1),
    whole(row.failed),
    row.stored === row.acknowledged ? "all" : `${row.stored} of ${row.acknowledged}`,
    row.clientCores.toFixed(2),
    decimal(row.otherCores, 2),
  ]);
  return [
    "Ingest (CPU us/entry of the server process while it ran, and until all it left behind was done; cores that the load generator and everything else kept busy)",
    aligned(
      [
        "batch",
        "conns",
        "server",
        "req/s",
        "entries/s",
        "x floor",
        "CPU us/entry",
        "all in",
        "p50 ms",
        "p99 ms",
        "failed",
        "stored",
        "client",
        "others",
      ],
      rows,
    ),
    `Peak memory of the service: ${decimal(ingest.peakMemoryMiB, 0)} MiB`,
  ].join("\n");
}

function doorsTable({ doors }: Results): string | null {
  if (!doors) return null;
  const rows = doors.map((row) => [
    row.format,
    String(row.batch),
    row.contender,
    whole(row.entriesPerSecond),
    decimal(row.cpuMicrosPerEntry, 2),
    decimal(row.allCpuMicrosPerEntry, 2),
    row.cpuRatio === null ? "-" : row.cpuRatio.toFixed(2),
    decimal(row.p50Ms, 1),
    decimal(row.p99Ms, 1),
    whole(row.failed),
    row.stored === null ? "-" : row.stored === row.acknowledged ? "all" : `${row.stored} of ${row.acknowledged}`,
    decimal(row.otherCores, 2),
  ]);
  const heads = [
    "protocol",
    "a request",
    "server",
    "entries/s",
    "CPU us/entry",
    "all in",
    "x peer",
    "p50 ms",
    "p99 ms",
  ];
  return [
    "Protocols of other clients, 16 connections, no body twice (CPU us/entry as above; x peer: CPU relative to VictoriaLogs)",
    aligned([...heads, "failed", "stored", "others"], rows),
  ].join("\n");
}

function limitsTable({ limits }: Results): string | null {
  if (!limits) return null;
  const rows = limits.map((row) => [
    row.name,
    whole(row.requestsPerSecond),
    decimal(row.cpuMicrosPerRequest, 1),
    decimal(row.p50Ms, 2),
    decimal(row.p99Ms, 2),
    whole(row.failed),
  ]);
  const [empty, check] = ["empty", "check"].map((action) => limits.find((row) => row.action === action));
  const difference =
    typeof empty?.cpuMicrosPerRequest === "number" && typeof check?.cpuMicrosPerRequest === "number"
      ? check.cpuMicrosPerRequest - empty.cpuMicrosPerRequest
      : null;
  return [
    "Limit check, 16 connections, one object (decided, counted, and on disk before the answer)",
    aligned(["request", "req/s", "CPU us", "p50 ms", "p99 ms", "failed"], rows),
    `A limit check costs ${decimal(difference, 1)} us of CPU over the empty call.`,
  ].join("\n");
}

function limitCostTable({ limitCost }: Results): string | null {
  if (!limitCost) return null;
  const rows = limitCost.map((row) => [
    row.name,
    whole(row.requestsPerSecond),
    decimal(row.cpuMicrosPerRequest, 1),
    decimal(row.cpuRatio, 2),
    decimal(row.p50Ms, 2),
    decimal(row.p99Ms, 2),
    whole(row.failed),
    row.stored === row.acknowledged ? "all" : `${row.stored} of ${row.acknowledged}`,
    decimal(row.otherCores, 2),
  ]);
  return [
    "Admitted requests of one entry, 16 connections, with limits and without",
    aligned(["workspace", "req/s", "CPU us", "x off", "p50 ms", "p99 ms", "failed", "stored", "others"], rows),
  ].join("\n");
}

function queryTable(query: QueryResults | undefined): string | null {
  if (!query) return null;
  const where =
    query.cold === 0
      ? ""
      : `, ${whole(query.cold)} of them in the cold tier (${decimal(query.coldBytesPerEntry, 1)} bytes each there)`;
  const rows = query.rows.map((row) => [
    row.name,
    decimal(row.medianMs, 1),
    decimal(row.p99Ms, 1),
    String(row.runs),
    String(row.rows),
    String(row.requests),
    row.wrong === null ? "right" : "WRONG",
  ]);
  return [
    `Query, one client, ${whole(query.entries)} entries stored in 10 projects over 6 h, 1,000 a batch${where}`,
    aligned(["query", "median ms", "p99 ms", "runs", "rows", "requests", "answer"], rows),
    `Stored at ${whole(query.seedEntriesPerSecond)} entries/s (made one by one); ${decimal(query.bytesPerEntry, 0)} bytes an entry on disk; peak memory ${decimal(query.peakMemoryMiB, 0)} MiB`,
    ...underQueriesLines(query.underQueries),
  ].join("\n");
}

function underQueriesLines(under: QueryResults["underQueries"]): string[] {
  if (under === null) return [];
  const { aloneEntriesPerSecond, besideEntriesPerSecond, ratio, queries } = under;
  return [
    `Ingest at 50 a batch, 16 connections: ${whole(aloneEntriesPerSecond)} entries/s alone, ${whole(besideEntriesPerSecond)} beside ${queries} queries in a loop: ${decimal(ratio, 2)}`,
  ];
}

function tailTable({ tail }: Results): string | null {
  if (!tail) return null;
  const rows = tail.map((row) => [
    whole(row.tails),
    whole(row.entriesPerSecond),
    decimal(row.ingestP50Ms, 1),
    decimal(row.ingestP99Ms, 1),
    decimal(row.latencyMedianMs, 1),
    decimal(row.latencyP99Ms, 1),
    `${row.complete} of ${row.tails}`,
    row.wrong ?? "",
  ]);
  const heads = ["tails", "entries/s", "ingest p50 ms", "p99 ms", "seen after ms", "p99 ms", "complete", ""];
  return ["Live tails of one project that takes batches of 50 at a fixed rate", aligned(heads, rows)].join("\n");
}

function alertsTable({ alerts }: Results): string | null {
  if (!alerts) return null;
  const lines = alerts.map((row) => {
    const alone = alerts.find(
      (other) => other.rules === 0 && other.aimedEntriesPerSecond === row.aimedEntriesPerSecond,
    );
    const more = (row.cpuMicrosPerEntry ?? Number.NaN) - (alone?.cpuMicrosPerEntry ?? Number.NaN);
    return [
      whole(row.rules),
      whole(row.aimedEntriesPerSecond),
      whole(row.entriesPerSecond),
      decimal(row.ingestP50Ms, 1),
      decimal(row.ingestP99Ms, 1),
      decimal(row.decidedMedianMs, 0),
      decimal(row.decidedP99Ms, 0),
      whole(row.decisions),
      whole(row.mostBehind),
      decimal(row.caughtUpSeconds, 1),
      decimal(row.cpuMicrosPerEntry, 1),
      row.rules === 0 ? "" : decimal((more * 1000) / row.rules, 0),
      row.wrong ?? "",
    ];
  });
  const heads = [
    ...["rules", "aimed", "entries/s", "ingest p50 ms", "p99 ms", "decided after ms", "p99 ms", "decisions"],
    ...["behind", "caught up s", "CPU us an entry", "ns a rule", ""],
  ];
  return ["Alert rules of one project that takes batches of 50 at a fixed rate", aligned(heads, lines)].join("\n");
}

function rowsTable({ rows }: Results): string | null {
  if (!rows) return null;
  const tables = [...new Set(rows.flatMap(({ byTable }) => Object.keys(byTable)))];
  const lines = rows.map((row) => [
    row.pace,
    row.rowsPerEntry.toFixed(4),
    ...tables.map((table) => (row.byTable[table] ?? 0).toFixed(4)),
  ]);
  return [
    "Rows written an entry, batches of 50 with an Idempotency-Key, later deletes included",
    aligned(["batches come", "all", ...tables], lines),
  ].join("\n");
}

function memoryTable({ memory }: Results): string | null {
  if (!memory) return null;
  const rows = memory.loads.map((row) => [
    row.load,
    whole(row.heapMiB + row.buffersMiB),
    whole(row.heapMiB),
    whole(row.buffersMiB),
    whole(row.liveMiB),
    whole(row.processMiB),
    decimal(row.seconds, 1),
    whole(row.slowestWriteMs),
  ]);
  return [
    "Memory of the service's isolate under 128 MiB of heap: the most it held, garbage included; after a collection; and of the whole process above an idle one",
    aligned(["load", "MiB", "heap", "buffers", "live", "process", "s", "another's slowest write ms"], rows),
  ].join("\n");
}

function tail({ verdicts, faults }: Results): string | null {
  const lines = [
    ...verdicts.map(
      ({ target, measured, reached }) => `${reached ? "reached    " : "NOT reached"}  ${target}: ${measured}`,
    ),
    ...faults.map((fault) => `WRONG        ${fault}`),
  ];
  return lines.length === 0 ? null : lines.join("\n");
}
