import type { LoadGenerator } from "../load/generator.ts";
import type { LoadResult } from "../load/protocol.ts";
import type { BenchOptions } from "../options.ts";
import type { BenchServer } from "../servers.ts";
import { median } from "../stats.ts";
import type { BenchTenant } from "../tenant.ts";
import type { Runnable } from "./query.ts";

const BATCH = 50;
const CONNECTIONS = 16;
const WARM_MS = 500;

/** Ingest while one client runs queries in a loop, compared with the same ingest alone. */
export interface UnderQueries {
  aloneEntriesPerSecond: number;
  besideEntriesPerSecond: number;
  /** Median of the rounds' ratios. */
  ratio: number;
  /** Queries answered in the meantime. */
  queries: number;
  failed: number;
}

/** Call this last, because the entries that it stores change query results. */
export async function underQueries(
  generator: LoadGenerator,
  server: BenchServer,
  tenant: BenchTenant,
  runs: readonly Runnable[],
  { rounds, seconds }: BenchOptions,
): Promise<UnderQueries> {
  const project = tenant.projects.at(-1);
  const load = () =>
    generator.run({
      origin: server.url,
      path: `/logger/${project?.id}/log`,
      headers: { "content-type": "application/json", authorization: `Bearer ${project?.key}` },
      idempotent: false,
      batch: BATCH,
      connections: CONNECTIONS,
      warmMs: WARM_MS,
      measureMs: seconds * 1000,
      serverPid: server.pid,
      expectedStatus: 201,
    });
  const alone: LoadResult[] = [];
  const beside: LoadResult[] = [];
  let queries = 0;
  for (let round = 0; round < rounds; round++) {
    alone.push(await load());
    let isOver = false;
    const loop = (async () => {
      for (let at = 0; !isOver; at = (at + 1) % runs.length) {
        await runs[at]?.run();
        queries++;
      }
    })();
    beside.push(await load());
    isOver = true;
    await loop;
  }
  const rate = ({ requests, seconds: measured }: LoadResult) => (requests * BATCH) / measured;
  return {
    aloneEntriesPerSecond: median(alone.map(rate)),
    besideEntriesPerSecond: median(beside.map(rate)),
    ratio: median(beside.map((result, round) => rate(result) / rate(alone[round] ?? result))),
    queries,
    failed: [...alone, ...beside].reduce((sum, { failed }) => sum + failed, 0),
  };
}
