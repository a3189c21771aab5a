import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { call } from "../../test/support/api.ts";
import { coldBytes, directoryBytes } from "../disk.ts";
import type { LoadGenerator } from "../load/generator.ts";
import type { Seed } from "../load/protocol.ts";
import type { BenchOptions } from "../options.ts";
import { peakMemoryMiB } from "../process-stats.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { median, percentile } from "../stats.ts";
import { type BenchTenant, newTenant, storedEntries } from "../tenant.ts";
import { benchHistograms, runHistogram } from "./histograms.ts";
import { benchQueries } from "./queries.ts";
import { type QueryRun, runQuery } from "./query-client.ts";
import { benchTables, runTable } from "./tables.ts";
import { type UnderQueries, underQueries } from "./under-queries.ts";

const PROJECTS = 10;
const SPAN_MS = 6 * 60 * 60 * 1000;

/** Each query is repeated this often, or until its time is up, but at least the minimum number of times. */
const MAX_RUNS = 50;
const LEAST_RUNS = 10;
const SECONDS_A_QUERY = 8;

/** Stored bytes of an entry in the recent tier, to compute how many are there. */
const RECENT_ENTRY_BYTES = 48;
/** The maximum share of all entries in the recent tier, if there are two tiers. */
const RECENT_SHARE = 0.1;

/** Whether all entries are in the workspace object, or nine tenths in D1. */
export type Tiers = "recent" | "both";

export interface QueryRow {
  name: string;
  runs: number;
  medianMs: number;
  p99Ms: number;
  /** Rows or buckets found, each compared with what was sent. */
  rows: number;
  /** Number of requests; more than one if the service's budget ended a request before the query was complete. */
  requests: number;
  /** `null` if every run returned exactly the right rows in the right order. */
  wrong: string | null;
}

export interface QueryResults {
  entries: number;
  /** Number of entries in the cold tier. */
  cold: number;
  /** Bytes of the cold tier, D1 and bucket, for each entry in it; `null` without such entries. */
  coldBytesPerEntry: number | null;
  /**
   * Entries stored per second while they were sent with one connection a project. Creating the entries limits it, too.
   */
  seedEntriesPerSecond: number;
  /** Bytes of the whole data directory for each entry, including write-ahead logs. */
  bytesPerEntry: number;
  /** Peak memory of the service's process. */
  peakMemoryMiB: number | null;
  rows: QueryRow[];
  /** Ingest while the queries run in a loop; only with two tiers. */
  underQueries: UnderQueries | null;
  /** The problem with storing; `null` if everything sent is stored. */
  wrong: string | null;
}

/** Queries by one client over entries of one workspace. Responses are compared with the known content. */
export async function benchQuery(
  workshop: Workshop,
  generator: LoadGenerator,
  options: BenchOptions,
  tiers: Tiers,
  report: (row: QueryRow) => void,
): Promise<QueryResults> {
  const perProject = Math.floor(options.entries / PROJECTS);
  const entries = perProject * PROJECTS;
  const server = await workshop.startService(undefined, settingsOf(tiers, entries));
  const tenant = await newTenant(server.url, PROJECTS);
  const end = Date.now() - 60_000;
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
  const stored = await storedInAll(server.url, tenant);
  const wrong =
    stored === entries ? null : `${stored} of ${entries} entries are stored. ${seeded.firstFailure ?? ""}`.trim();
  const cold = tiers === "both" ? await settled(server.url, tenant) : 0;
  const bytesPerEntry = directoryBytes(server.dataDir) / entries;
  const coldBytesPerEntry = cold === 0 ? null : coldBytes(server.dataDir) / cold;
  const rows: QueryRow[] = [];
  const runs = runsOf(server, seed, tenant);
  for (const run of runs) {
    const row = await measure(run);
    rows.push(row);
    report(row);
  }
  const ingest = tiers === "both" ? await underQueries(generator, server, tenant, runs, options) : null;
  const memory = peakMemoryMiB(server.pid);
  await server.stop();
  return {
    entries,
    cold,
    coldBytesPerEntry,
    seedEntriesPerSecond: seeded.acknowledged / seeded.seconds,
    bytesPerEntry,
    peakMemoryMiB: memory,
    rows,
    underQueries: ingest,
    wrong,
  };
}

function settingsOf(tiers: Tiers, entries: number): Record<string, string> {
  const [bytes, seconds] =
    tiers === "both" ? [Math.floor(entries * RECENT_SHARE * RECENT_ENTRY_BYTES), 86_400] : [67_108_864, 86_400];
  return {
    RECENT_MAX_BYTES: String(Math.max(10_000, bytes)),
    RECENT_MAX_AGE_SECONDS: String(seconds),
    // What is measured is the recent tier, with more entries than it has by default.
    RECENT_FULL_AGE_SECONDS: String(seconds),
  };
}

/** Waits until nothing more moves to D1. @returns the number of entries in it */
async function settled(url: string, { accessToken: token, workspaceId }: BenchTenant): Promise<number> {
  for (let last = -1; ; ) {
    await setTimeout(3000);
    const path = `/workspaces/${workspaceId}/usage`;
    const answer = await call<{ stored: { entries: number } }>(url, path, { token, workspaceId });
    if (answer.status !== 200) throw new Error(`The usage could not be read: ${answer.status}`);
    const { entries } = answer.body.data.stored;
    if (entries === last) return entries;
    last = entries;
  }
}

async function storedInAll(url: string, tenant: BenchTenant): Promise<number> {
  let total = 0;
  for (const { id } of tenant.projects) total += await storedEntries(url, tenant, id);
  return total;
}

/** A query or histogram that can be run repeatedly. */
export interface Runnable {
  name: string;
  rows: number;
  run(): Promise<QueryRun>;
}

function runsOf({ url }: BenchServer, seed: Seed, tenant: BenchTenant): Runnable[] {
  const queries = benchQueries(seed, tenant).map((query) => ({
    name: query.name,
    rows: query.expected.length,
    run: () => runQuery(url, query),
  }));
  const histograms = benchHistograms(seed, tenant).map((histogram) => ({
    name: histogram.name,
    rows: histogram.expected.size,
    run: () => runHistogram(url, histogram),
  }));
  const tables = benchTables(seed, tenant).map((table) => ({
    name: table.name,
    rows: table.expected.length,
    run: () => runTable(url, table),
  }));
  return [...queries, ...histograms, ...tables];
}

async function measure({ name, rows, run }: Runnable): Promise<QueryRow> {
  const times: number[] = [];
  let wrong: string | null = null;
  let requests = 0;
  // Once without measurement, because the first query after much ingest reads the index of batches from disk.
  await run();
  const until = performance.now() + SECONDS_A_QUERY * 1000;
  while (times.length < LEAST_RUNS || (times.length < MAX_RUNS && performance.now() < until)) {
    const result = await run();
    times.push(result.tookMs);
    requests = Math.max(requests, result.requests);
    wrong ??= result.wrong;
  }
  return { name, runs: times.length, medianMs: median(times), p99Ms: percentile(times, 0.99), rows, requests, wrong };
}
