import type { Machine } from "./machine.ts";
import type { BenchOptions } from "./options.ts";
import { type IngestResults, type IngestRow, SERVICE } from "./parts/ingest.ts";
import type { LimitCostRow } from "./parts/limit-cost.ts";
import type { LimitsRow } from "./parts/limits.ts";
import type { QueryResults } from "./parts/query.ts";
import type { RowsRow } from "./parts/rows.ts";

/** What each part that was asked for has measured. */
export interface Measured {
  ingest?: IngestResults;
  limits?: LimitsRow[];
  limitCost?: LimitCostRow[];
  query?: QueryResults;
  rows?: RowsRow[];
}

export interface Results extends Measured {
  machine: Machine;
  options: Omit<BenchOptions, "out">;
  tookSeconds: number;
  verdicts: Verdict[];
  /** What makes the figures worthless: answers that were none, entries that are missing, wrong rows. */
  faults: string[];
}

/** One target held against what was measured. */
export interface Verdict {
  target: string;
  measured: string;
  reached: boolean;
}

/** Targets: the floor is what a durable row costs with nothing else done. */
const TARGETS = { ratioAt1000: 0.5, cpuMicrosAt1000: 3, ratioAt50: 1.2, limitCost: 1.15, rowsPerEntry: 0.15 } as const;

export function verdictsOf({ ingest, limitCost, rows }: Measured): Verdict[] {
  return [
    ...(ingest ? ingestVerdicts(ingest.rows) : []),
    ...limitCostVerdicts(limitCost ?? []),
    ...(rows ? rowsVerdicts(rows) : []),
  ];
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

export function faultsOf({ ingest, limits, limitCost, query, rows }: Measured): string[] {
  const faults: string[] = [];
  const measured = [
    ...(ingest?.rows.map((row) => ({ ...row, what: `${row.contender}, ${row.batch} a batch, ${row.connections}` })) ??
      []),
    ...(limits?.map((row) => ({ ...row, what: row.name })) ?? []),
    ...(limitCost?.map((row) => ({ ...row, what: row.name })) ?? []),
  ];
  for (const { what, failed, firstFailure, stored, acknowledged } of measured) {
    if (failed > 0) faults.push(`${what}: ${failed} requests failed, the first with ${firstFailure}`);
    if (stored !== null && stored !== acknowledged) {
      faults.push(`${what}: ${acknowledged} requests were acknowledged, and ${stored} are stored`);
    }
  }
  if (query?.wrong) faults.push(`query: ${query.wrong}`);
  for (const { name, wrong } of query?.rows ?? []) if (wrong !== null) faults.push(`query ${name}: ${wrong}`);
  for (const { pace, wrong } of rows ?? []) if (wrong !== null) faults.push(`rows, ${pace}: ${wrong}`);
  return faults;
}
