import type { Machine } from "./machine.ts";
import type { BenchOptions } from "./options.ts";
import type { AlertRow } from "./parts/alerts.ts";
import { DOOR_SERVICE, type DoorRow } from "./parts/doors.ts";
import { type IngestResults, type IngestRow, SERVICE } from "./parts/ingest.ts";
import type { LimitCostRow } from "./parts/limit-cost.ts";
import type { LimitsRow } from "./parts/limits.ts";
import { type MemoryResults, PEAK_MIB } from "./parts/memory.ts";
import type { QueryResults } from "./parts/query.ts";
import type { RowsRow } from "./parts/rows.ts";
import type { TailRow } from "./parts/tail.ts";
import type { TargetsResults } from "./parts/targets.ts";

/** Results of each requested part. */
export interface Measured {
  ingest?: IngestResults;
  doors?: DoorRow[];
  limits?: LimitsRow[];
  limitCost?: LimitCostRow[];
  query?: QueryResults;
  tiers?: QueryResults;
  tail?: TailRow[];
  alerts?: AlertRow[];
  rows?: RowsRow[];
  memory?: MemoryResults;
  targets?: TargetsResults;
}

export interface Results extends Measured {
  machine: Machine;
  options: Omit<BenchOptions, "out" | "publish" | "victorialogs" | "state">;
  tookSeconds: number;
  verdicts: Verdict[];
  /** Problems that make the figures invalid: failed requests, missing entries, wrong rows. */
  faults: string[];
}

/** One target compared with the measurement. */
export interface Verdict {
  target: string;
  measured: string;
  reached: boolean;
}

/** Targets. The floor is the cost of a durable row without any other work. */
const TARGETS = {
  ratioAt1000: 0.5,
  cpuMicrosAt1000: 3,
  ratioAt50: 1.2,
  doorCpuRatio: { 50: 1.6, 1000: 1.2 } as Readonly<Record<number, number>>,
  limitCost: 1.15,
  rowsPerEntry: 0.15,
  coldBytesPerEntry: 80,
  underQueries: 0.5,
  tailLatencyMs: 50,
  ingestP99WithTails: 2,
  decidedP99Ms: 2000,
  ingestP50WithRules: 1.1,
} as const;

/**
 * Maximum milliseconds of queries over both tiers, from VictoriaLogs' times for comparable ones (docs/benchmarks.md).
 */
const QUERY_TARGETS: Readonly<Record<string, number>> = {
  "newest 100 errors, one project": 36,
  "rare substring inside a word, last hour, all projects": 220,
  "rare data value, 6 h, one project": 9,
  "one exact trace id, 6 h, all projects": 9,
  "count per minute, all projects": 11,
  "count per minute by level, one project": 10,
};

export function verdictsOf({ ingest, doors, limitCost, tiers, tail, alerts, rows, memory }: Measured): Verdict[] {
  return [
    ...(ingest ? ingestVerdicts(ingest.rows) : []),
    ...doorVerdicts(doors ?? []),
    ...limitCostVerdicts(limitCost ?? []),
    ...(tiers ? tiersVerdicts(tiers) : []),
    ...(tail ? tailVerdicts(tail) : []),
    ...alertVerdicts(alerts ?? []),
    ...(rows ? rowsVerdicts(rows) : []),
    ...(memory ? memoryVerdicts(memory) : []),
  ];
}

function alertVerdicts(rows: readonly AlertRow[]): Verdict[] {
  const [alone, followed] = rows;
  if (alone === undefined || followed === undefined) return [];
  const what = `${followed.rules} rules at ${followed.aimedEntriesPerSecond} entries/s`;
  const slower = followed.ingestP50Ms / alone.ingestP50Ms;
  return [
    {
      target: `${what}: decided at most ${TARGETS.decidedP99Ms} ms after the end of a window (p99)`,
      measured: `${Math.round(followed.decidedP99Ms ?? Number.NaN)} ms`,
      reached: followed.decidedP99Ms !== null && followed.decidedP99Ms <= TARGETS.decidedP99Ms,
    },
    {
      target: `${what}: ingest p50 at most ${TARGETS.ingestP50WithRules} times that without rules`,
      measured: slower.toFixed(2),
      reached: slower <= TARGETS.ingestP50WithRules,
    },
  ];
}

function doorVerdicts(rows: readonly DoorRow[]): Verdict[] {
  return rows
    .filter(({ contender, cpuRatio }) => contender === DOOR_SERVICE && cpuRatio !== null)
    .map(({ format, batch, cpuRatio }) => ({
      target: `${format}, ${batch} a request: at most ${TARGETS.doorCpuRatio[batch]} times the CPU of VictoriaLogs`,
      measured: cpuRatio?.toFixed(2) ?? "",
      reached: cpuRatio !== null && cpuRatio <= (TARGETS.doorCpuRatio[batch] ?? 0),
    }));
}

function memoryVerdicts({ loads }: MemoryResults): Verdict[] {
  return loads.map(({ load, heapMiB, buffersMiB }) => ({
    target: `${load}: the isolate holds at most ${PEAK_MIB} MiB`,
    measured: `${Math.round(heapMiB + buffersMiB)} MiB`,
    reached: heapMiB + buffersMiB <= PEAK_MIB,
  }));
}

function tiersVerdicts({ rows, coldBytesPerEntry, underQueries }: QueryResults): Verdict[] {
  const queries = rows.flatMap(({ name, medianMs }) => {
    const most = QUERY_TARGETS[name];
    if (most === undefined) return [];
    return {
      target: `both tiers, ${name}: at most ${most} ms`,
      measured: medianMs.toFixed(1),
      reached: medianMs <= most,
    };
  });
  return [
    ...queries,
    {
      target: `at most ${TARGETS.coldBytesPerEntry} bytes an entry in the cold tier, filters and indexes included`,
      measured: coldBytesPerEntry === null ? "not measured" : coldBytesPerEntry.toFixed(1),
      reached: coldBytesPerEntry !== null && coldBytesPerEntry <= TARGETS.coldBytesPerEntry,
    },
    {
      target: `ingest beside queries in a loop: at least ${TARGETS.underQueries} of its speed alone`,
      measured: underQueries === null ? "not measured" : underQueries.ratio.toFixed(2),
      reached: underQueries !== null && underQueries.ratio >= TARGETS.underQueries,
    },
  ];
}

function tailVerdicts([alone, ...followed]: readonly TailRow[]): Verdict[] {
  return followed.flatMap((row) => {
    const p99Ratio = row.ingestP99Ms / (alone?.ingestP99Ms ?? Number.NaN);
    const what = `${row.tails} tails at ${row.aimedEntriesPerSecond} entries/s`;
    return [
      {
        target: `${what}: every tail complete`,
        measured: `${row.complete} of ${row.tails}`,
        reached: row.complete === row.tails,
      },
      {
        target: `${what}: an entry is seen at most ${TARGETS.tailLatencyMs} ms after its 201 (median)`,
        measured: `${row.latencyMedianMs?.toFixed(1)} ms`,
        reached: row.latencyMedianMs !== null && row.latencyMedianMs <= TARGETS.tailLatencyMs,
      },
      {
        target: `${what}: ingest p99 at most ${TARGETS.ingestP99WithTails} times that without tails`,
        measured: p99Ratio.toFixed(2),
        reached: p99Ratio <= TARGETS.ingestP99WithTails,
      },
    ];
  });
}

function limitCostVerdicts([, ...limited]: readonly LimitCostRow[]): Verdict[] {
  return limited.map(({ name, cpuRatio }) => ({
    target: `an admitted request with ${name}: at most ${TARGETS.limitCost} times the CPU of one without limits`,
    measured: cpuRatio === null ? "not measured" : cpuRatio.toFixed(2),
    reached: cpuRatio !== null && cpuRatio <= TARGETS.limitCost,
  }));
}

function ingestVerdicts(rows: readonly IngestRow[]): Verdict[] {
  const ratio = (row: IngestRow, least: number) => ({
    target: `${row.batch} a batch, ${row.connections} connections: at least ${least} of the floor's entries/s`,
    measured: row.ratioToFloor.toFixed(2),
    reached: row.ratioToFloor >= least,
  });
  const own = rows.filter(({ contender }) => contender === SERVICE);
  const large = own.filter(({ batch }) => batch === 1000);
  return [
    ...large.map((row) => ratio(row, TARGETS.ratioAt1000)),
    ...large.map((row) => ({
      target: `${row.batch} a batch, ${row.connections} connections: at most ${TARGETS.cpuMicrosAt1000} us of CPU an entry`,
      measured: row.cpuMicrosPerEntry === null ? "not measured" : row.cpuMicrosPerEntry.toFixed(2),
      reached: row.cpuMicrosPerEntry !== null && row.cpuMicrosPerEntry <= TARGETS.cpuMicrosAt1000,
    })),
    ...own
      .filter(({ batch, connections }) => batch === 50 && connections === 64)
      .map((row) => ratio(row, TARGETS.ratioAt50)),
  ];
}

function rowsVerdicts(rows: readonly RowsRow[]): Verdict[] {
  return rows.map(({ pace, rowsPerEntry }) => ({
    target: `batches of 50 with an Idempotency-Key, ${pace}: at most ${TARGETS.rowsPerEntry} rows written an entry`,
    measured: rowsPerEntry.toFixed(3),
    reached: rowsPerEntry <= TARGETS.rowsPerEntry,
  }));
}

export function faultsOf({
  ingest,
  doors,
  limits,
  limitCost,
  query,
  tiers,
  tail,
  alerts,
  rows,
  memory,
  targets,
}: Measured): string[] {
  const faults: string[] = memory?.wrong ? [`memory: ${memory.wrong}`] : [];
  if (targets) faults.push(...targetFaults(targets));
  const measured = [
    ...(ingest?.rows.map((row) => ({ ...row, what: `${row.contender}, ${row.batch} a batch, ${row.connections}` })) ??
      []),
    ...(doors?.map((row) => ({ ...row, what: `${row.contender}, ${row.format}, ${row.batch} a request` })) ?? []),
    ...(limits?.map((row) => ({ ...row, what: row.name })) ?? []),
    ...(limitCost?.map((row) => ({ ...row, what: row.name })) ?? []),
  ];
  for (const { what, failed, firstFailure, stored, acknowledged } of measured) {
    if (failed > 0) faults.push(`${what}: ${failed} requests failed, the first with ${firstFailure}`);
    if (stored !== null && stored !== acknowledged) {
      faults.push(`${what}: ${acknowledged} requests were acknowledged, and ${stored} are stored`);
    }
  }
  for (const [what, results] of Object.entries({ query, tiers })) {
    if (results?.wrong) faults.push(`${what}: ${results.wrong}`);
    for (const { name, wrong } of results?.rows ?? []) if (wrong !== null) faults.push(`${what} ${name}: ${wrong}`);
    if (results?.underQueries?.failed) faults.push(`${what}: ${results.underQueries.failed} requests failed`);
  }
  for (const { tails, failed } of tail ?? []) if (failed > 0) faults.push(`${tails} tails: ${failed} requests failed`);
  for (const { rules, wrong } of alerts ?? []) if (wrong !== null) faults.push(`${rules} rules: ${wrong}`);
  for (const { pace, wrong } of rows ?? []) if (wrong !== null) faults.push(`rows, ${pace}: ${wrong}`);
  return faults;
}

function targetFaults({ main, growth, needles }: TargetsResults): string[] {
  const rows = [...new Set([main, ...growth])].flatMap(({ entries, rows }) =>
    rows.flatMap(({ name, wrong }) => (wrong === null ? [] : `targets, ${entries} entries, ${name}: ${wrong}`)),
  );
  const missed = needles
    .filter(({ found, expected }) => found !== expected)
    .map(({ name, files, found, expected }) => `targets, ${name} over ${files} files: ${found} instead of ${expected}`);
  return [...rows, ...missed];
}
