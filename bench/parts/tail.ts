import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { LoadGenerator } from "../load/generator.ts";
import type { PaceResult, TailsCommand, TailsResult } from "../load/protocol.ts";
import type { BenchOptions } from "../options.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { median, percentile } from "../stats.ts";
import { newTenant, storedEntries } from "../tenant.ts";

const BATCH = 50;
const CONNECTIONS = 8;
/** Entries a second of the target, and the number of tails that follow them. */
const RATES = [
  { entriesPerSecond: 5000, tails: 0 },
  { entriesPerSecond: 5000, tails: 1 },
  { entriesPerSecond: 5000, tails: 100 },
] as const;

export interface TailRow {
  tails: number;
  /** The target and the result. */
  aimedEntriesPerSecond: number;
  entriesPerSecond: number;
  ingestP50Ms: number;
  ingestP99Ms: number;
  /**
   * From the arrival of the 201 at the sender to the arrival of the entry at a tail, over all tails; `null` without
   * tails.
   */
  latencyMedianMs: number | null;
  latencyP99Ms: number | null;
  /** Tails that received every entry once. */
  complete: number;
  failed: number;
  /** `null` if nothing was missing, duplicated or refused. */
  wrong: string | null;
}

/** A workspace with entries at a fixed rate, with and without tails. */
export async function benchTail(
  workshop: Workshop,
  generator: LoadGenerator,
  { seconds, rounds }: BenchOptions,
  report: (row: TailRow) => void,
): Promise<TailRow[]> {
  const server = await workshop.startService();
  const measured = RATES.map((): TailRow[] => []);
  // Not counted. Otherwise the first row, which the others are compared with, would be that of a server that has just
  // started.
  await measure(server, generator, 5000, 1, 1);
  for (let round = 0; round < rounds; round++) {
    for (const [place, { entriesPerSecond, tails }] of RATES.entries()) {
      const row = await measure(server, generator, entriesPerSecond, tails, Math.max(2, seconds * 2));
      measured[place]?.push(row);
      report(row);
    }
  }
  await server.stop();
  return measured.flatMap(middleOf);
}

/** Medians of the rounds with one number of tails, and the worst of what must not vary. */
function middleOf(rows: readonly TailRow[]): TailRow[] {
  const [first] = rows;
  if (!first) return [];
  const middle = (value: (row: TailRow) => number) => median(rows.map(value));
  const isFollowed = first.latencyMedianMs !== null;
  return [
    {
      ...first,
      entriesPerSecond: middle((row) => row.entriesPerSecond),
      ingestP50Ms: middle((row) => row.ingestP50Ms),
      ingestP99Ms: middle((row) => row.ingestP99Ms),
      latencyMedianMs: isFollowed ? middle((row) => row.latencyMedianMs ?? Number.NaN) : null,
      latencyP99Ms: isFollowed ? middle((row) => row.latencyP99Ms ?? Number.NaN) : null,
      complete: Math.min(...rows.map(({ complete }) => complete)),
      failed: Math.max(...rows.map(({ failed }) => failed)),
      wrong: rows.find(({ wrong }) => wrong !== null)?.wrong ?? null,
    },
  ];
}

async function measure(
  server: BenchServer,
  generator: LoadGenerator,
  entriesPerSecond: number,
  count: number,
  seconds: number,
): Promise<TailRow> {
  const tenant = await newTenant(server.url, 1);
  const [project] = tenant.projects;
  const authorization = `Bearer ${project?.key}`;
  const child = fork(path.join(import.meta.dirname, "..", "load", "tails.ts"));
  const ask = async (command: TailsCommand): Promise<unknown> => {
    child.send(command);
    const [answer] = await once(child, "message");
    return answer;
  };
  await ask({ kind: "open", origin: server.url, path: `/logger/${project?.id}/tail`, authorization, count });
  const sent: PaceResult = await generator.pace({
    origin: server.url,
    path: `/logger/${project?.id}/log`,
    headers: { "content-type": "application/json", authorization },
    batch: BATCH,
    perSecond: entriesPerSecond / BATCH,
    connections: CONNECTIONS,
    measureMs: seconds * 1000,
  });
  const lastSeq = await storedEntries(server.url, tenant, project?.id ?? "");
  // SAFETY: the child answers `close` with its result.
  const { tails } = (await ask({ kind: "close", lastSeq })) as TailsResult;
  child.disconnect();
  // The project is new, so every tail starts with its first entry.
  const incomplete = tails.filter(({ last, ended }) => last !== lastSeq || ended !== null);
  const [wrong] = incomplete;
  const latencies = latenciesOf(sent.acks, tails);
  return {
    tails: count,
    aimedEntriesPerSecond: entriesPerSecond,
    entriesPerSecond: (sent.acks.length * BATCH) / sent.seconds,
    ingestP50Ms: sent.p50Ms,
    ingestP99Ms: sent.p99Ms,
    latencyMedianMs: latencies.length === 0 ? null : median(latencies),
    latencyP99Ms: latencies.length === 0 ? null : percentile(latencies, 0.99),
    complete: tails.length - incomplete.length,
    failed: sent.failed,
    wrong:
      sent.firstFailure ??
      (wrong ? `a tail got each entry once and in order up to ${wrong.last} of ${lastSeq}: ${wrong.ended}` : null),
  };
}

/** For each tail and response. Negative if the tail received the entries before the sender got its response. */
function latenciesOf(acks: PaceResult["acks"], tails: TailsResult["tails"]): number[] {
  const bySeq = acks.toSorted(([a], [b]) => a - b);
  const latencies: number[] = [];
  for (const { seen } of tails) {
    let at = 0;
    for (const [seq, ackedAt] of bySeq) {
      while (at < seen.length && (seen[at]?.[0] ?? 0) < seq) at++;
      const frame = seen[at];
      if (frame) latencies.push(frame[1] - ackedAt);
    }
  }
  return latencies;
}
