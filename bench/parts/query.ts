import { randomBytes } from "node:crypto";
import { directoryBytes } from "../disk.ts";
import type { LoadGenerator } from "../load/generator.ts";
import type { Seed } from "../load/protocol.ts";
import type { BenchOptions } from "../options.ts";
import { peakMemoryMiB } from "../process-stats.ts";
import type { Workshop } from "../servers.ts";
import { median, percentile } from "../stats.ts";
import { type BenchTenant, newTenant, storedEntries } from "../tenant.ts";
import { type BenchQuery, benchQueries, type Row } from "./queries.ts";
import { runQuery } from "./query-client.ts";

const PROJECTS = 10;
const SPAN_MS = 6 * 60 * 60 * 1000;

/** Each query is repeated this often, or until its time is up, but never less than the least. */
const MOST_RUNS = 50;
const LEAST_RUNS = 10;
const SECONDS_A_QUERY = 8;

export interface QueryRow {
  name: string;
  runs: number;
  medianMs: number;
  p99Ms: number;
  /** Rows found; checked one by one against what was sent. */
  rows: number;
  /** Requests it took: more than one when the service's budget ended a request before the query was complete. */
  requests: number;
  /** Null when every run gave just the right rows in the right order. */
  wrong: string | null;
}

export interface QueryResults {
  entries: number;
  /** Entries stored per second while they were sent, one connection a project; the making of entries limits it, too. */
  seedEntriesPerSecond: number;
  /** Bytes of the whole data directory for each entry, write-ahead logs included. */
  bytesPerEntry: number;
  /** The most memory the service's process had in use. */
  peakMemoryMiB: number | null;
  rows: QueryRow[];
  /** What went wrong with storing; null when all that was sent is there. */
  wrong: string | null;
}

/** Queries by one client over entries of one workspace, the answers checked against what is known to be there. */
export async function benchQuery(
  workshop: Workshop,
  generator: LoadGenerator,
  options: BenchOptions,
  report: (row: QueryRow) => void,
): Promise<QueryResults> {
  const server = await workshop.startService();
  const tenant = await newTenant(server.url, PROJECTS);
  const end = Date.now() - 60_000;
  const perProject = Math.floor(options.entries / PROJECTS);
  const seed: Seed = {
    perProject,
    projects: PROJECTS,
    start: end - SPAN_MS,
    end,
    traceId: randomBytes(16).toString("hex"),
  };
  const projects = tenant.projects.map(({ id, key }) => ({
    path: `/logger/${id}/log`,
    authorization: `Bearer ${key}`,
  }));
  const seeded = await generator.seed({ origin: server.url, projects, seed });
  const entries = perProject * PROJECTS;
  const stored = await storedInAll(server.url, tenant);
  const wrong =
    stored === entries ? null : `${stored} of ${entries} entries are stored. ${seeded.firstFailure ?? ""}`.trim();
  const bytesPerEntry = directoryBytes(server.dataDir) / entries;
  const rows: QueryRow[] = [];
  for (const query of benchQueries(seed, tenant)) {
    const row = await measure(server.url, query);
    rows.push(row);
    report(row);
  }
  const memory = peakMemoryMiB(server.pid);
  await server.stop();
  return {
    entries,
    seedEntriesPerSecond: seeded.acknowledged / seeded.seconds,
    bytesPerEntry,
    peakMemoryMiB: memory,
    rows,
    wrong,
  };
}

async function storedInAll(url: string, tenant: BenchTenant): Promise<number> {
  let total = 0;
  for (const { id } of tenant.projects) total += await storedEntries(url, tenant, id);
  return total;
}

async function measure(url: string, query: BenchQuery): Promise<QueryRow> {
  const times: number[] = [];
  let wrong: string | null = null;
  let requests = 0;
  // Once without the clock: the first query after much ingest reads the index of batches from disk.
  await runQuery(url, query);
  const until = performance.now() + SECONDS_A_QUERY * 1000;
  while (times.length < LEAST_RUNS || (times.length < MOST_RUNS && performance.now() < until)) {
    const run = await runQuery(url, query);
    times.push(run.tookMs);
    requests = Math.max(requests, run.requests);
    wrong ??= run.failure ?? difference(run.rows, query.expected);
  }
  return {
    name: query.name,
    runs: times.length,
    medianMs: median(times),
    p99Ms: percentile(times, 0.99),
    rows: query.expected.length,
    requests,
    wrong,
  };
}

function difference(found: readonly Row[], expected: readonly Row[]): string | null {
  if (found.length !== expected.length) return `${found.length} rows instead of ${expected.length}`;
  const at = expected.findIndex(
    (row, index) => row.projectId !== found[index]?.projectId || row.seq !== found[index]?.seq,
  );
  return at < 0 ? null : `row ${at} is seq ${found[at]?.seq} instead of ${expected[at]?.seq}`;
}
