import { setTimeout as wait } from "node:timers/promises";
import { call } from "../../test/support/api.ts";
import type { LoadGenerator } from "../load/generator.ts";
import type { BenchOptions } from "../options.ts";
import { cpuMicros } from "../process-stats.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { median, percentile } from "../stats.ts";
import { type BenchTenant, newTenant, storedEntries } from "../tenant.ts";

const BATCH = 50;
const CONNECTIONS = 8;
/** The load of the target, and one that no machine of the bench keeps up with. */
const LOADS = [
  { entriesPerSecond: 5000, rules: 0 },
  { entriesPerSecond: 5000, rules: 100 },
  { entriesPerSecond: 40_000, rules: 0 },
  { entriesPerSecond: 40_000, rules: 100 },
] as const;
/** Runs are so many times as long as others: windows have to fill. */
const LONGER = 5;
/** Milliseconds in which the rules may catch up after the load. */
const CATCH_UP_MS = 120_000;

export interface AlertRow {
  rules: number;
  aimedEntriesPerSecond: number;
  entriesPerSecond: number;
  ingestP50Ms: number;
  ingestP99Ms: number;
  /** From the end of a window to its decision; `null` without rules. */
  decidedMedianMs: number | null;
  decidedP99Ms: number | null;
  decisions: number;
  /** Entries that waited at most, in samples once a second, and seconds after the load until none did. */
  mostBehind: number;
  caughtUpSeconds: number;
  /** CPU of the server for an entry, until no entry waits. */
  cpuMicrosPerEntry: number | null;
  failed: number;
  /** `null` if nothing was refused or left out. */
  wrong: string | null;
}

/** Ingest and decisions of one project at a fixed rate, with and without a hundred rules. */
export async function benchAlerts(
  workshop: Workshop,
  generator: LoadGenerator,
  { seconds, rounds }: BenchOptions,
  report: (row: AlertRow) => void,
): Promise<AlertRow[]> {
  const server = await workshop.startService();
  const measured = LOADS.map((): AlertRow[] => []);
  // Not counted: the first row, which others are compared with, would be that of a server that has just started.
  await measure(server, generator, { entriesPerSecond: 5000, rules: 0 }, 2);
  for (let round = 0; round < rounds; round++) {
    for (const [place, load] of LOADS.entries()) {
      const row = await measure(server, generator, load, seconds * LONGER);
      measured[place]?.push(row);
      report(row);
    }
  }
  await server.stop();
  return measured.flatMap(middleOf);
}

/** Medians of the rounds, and the worst of what must not vary. */
function middleOf(rows: readonly AlertRow[]): AlertRow[] {
  const [first] = rows;
  if (first === undefined) return [];
  const middle = (value: (row: AlertRow) => number | null) => {
    const values = rows.map(value).filter((each) => each !== null);
    return values.length === 0 ? null : median(values);
  };
  return [
    {
      ...first,
      entriesPerSecond: middle((row) => row.entriesPerSecond) ?? 0,
      ingestP50Ms: middle((row) => row.ingestP50Ms) ?? 0,
      ingestP99Ms: middle((row) => row.ingestP99Ms) ?? 0,
      decidedMedianMs: middle((row) => row.decidedMedianMs),
      decidedP99Ms: middle((row) => row.decidedP99Ms),
      decisions: middle((row) => row.decisions) ?? 0,
      mostBehind: Math.max(...rows.map(({ mostBehind }) => mostBehind)),
      caughtUpSeconds: Math.max(...rows.map(({ caughtUpSeconds }) => caughtUpSeconds)),
      cpuMicrosPerEntry: middle((row) => row.cpuMicrosPerEntry),
      failed: Math.max(...rows.map(({ failed }) => failed)),
      wrong: rows.find(({ wrong }) => wrong !== null)?.wrong ?? null,
    },
  ];
}

async function measure(
  server: BenchServer,
  generator: LoadGenerator,
  { entriesPerSecond, rules }: { entriesPerSecond: number; rules: number },
  seconds: number,
): Promise<AlertRow> {
  const tenant = await newTenant(server.url, 1);
  const [project] = tenant.projects;
  if (project === undefined) throw new Error("The tenant has no project.");
  const alerts = new Alerts(server.url, tenant, project.id);
  for (const body of RULES.slice(0, rules)) await alerts.create(body);
  const before = cpuMicros(server.pid);
  const watching = alerts.watch();
  const sent = await generator.pace({
    origin: server.url,
    path: `/logger/${project.id}/log`,
    headers: { "content-type": "application/json", authorization: `Bearer ${project.key}` },
    batch: BATCH,
    perSecond: entriesPerSecond / BATCH,
    connections: CONNECTIONS,
    measureMs: seconds * 1000,
  });
  const endedAt = performance.now();
  const isCaughtUp = await alerts.catchUp();
  const caughtUpSeconds = (performance.now() - endedAt) / 1000;
  const after = cpuMicros(server.pid);
  const mostBehind = await watching.stop();
  const entries = await storedEntries(server.url, tenant, project.id);
  const latencies = await alerts.latencies();
  const notCounted = await alerts.notCounted();
  return {
    rules,
    aimedEntriesPerSecond: entriesPerSecond,
    entriesPerSecond: (sent.acks.length * BATCH) / sent.seconds,
    ingestP50Ms: sent.p50Ms,
    ingestP99Ms: sent.p99Ms,
    decidedMedianMs: latencies.length === 0 ? null : median(latencies),
    decidedP99Ms: latencies.length === 0 ? null : percentile(latencies, 0.99),
    decisions: latencies.length,
    mostBehind,
    caughtUpSeconds,
    cpuMicrosPerEntry: before === null || after === null ? null : (after - before) / entries,
    failed: sent.failed,
    wrong:
      sent.firstFailure ??
      (isCaughtUp ? null : "the rules have not caught up") ??
      (notCounted > 0 ? `${notCounted} entries were not counted` : null),
  };
}

interface Alert {
  id: string;
  notCounted: number;
  position: { behind: number };
}

interface Decision {
  at: string;
  decidedAt: string;
}

class Alerts {
  readonly #url: string;
  readonly #path: string;
  readonly #as: { token: string; workspaceId: string };

  constructor(url: string, { accessToken: token, workspaceId }: BenchTenant, projectId: string) {
    this.#url = url;
    this.#path = `/projects/${projectId}/alerts`;
    this.#as = { token, workspaceId };
  }

  async create(body: object): Promise<void> {
    const answer = await call(this.#url, this.#path, { ...this.#as, body });
    if (answer.status !== 201) throw new Error(`The rule was refused: ${JSON.stringify(answer.body.error)}`);
  }

  /** Samples how many entries wait, once a second. */
  watch(): { stop: () => Promise<number> } {
    let most = 0;
    let isStopped = false;
    const running = (async () => {
      while (!isStopped) {
        most = Math.max(most, await this.#behind());
        await wait(1000);
      }
    })();
    return {
      stop: async () => {
        isStopped = true;
        await running;
        return most;
      },
    };
  }

  /** @returns whether the rules have counted all entries */
  async catchUp(): Promise<boolean> {
    const until = performance.now() + CATCH_UP_MS;
    while (performance.now() < until) {
      if ((await this.#behind()) === 0) return true;
      await wait(100);
    }
    return false;
  }

  /** Milliseconds from the end of a window to its decision, of all decisions. */
  async latencies(): Promise<number[]> {
    const latencies: number[] = [];
    for (const { id } of await this.#list()) {
      for (let cursor: string | null = ""; cursor !== null; ) {
        const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
        const path = `${this.#path}/${id}/decisions?limit=200${query}`;
        const { body } = await call<{ items: Decision[]; nextCursor: string | null }>(this.#url, path, this.#as);
        for (const { at, decidedAt } of body.data.items) latencies.push(Date.parse(decidedAt) - Date.parse(at));
        cursor = body.data.nextCursor;
      }
    }
    return latencies;
  }

  async notCounted(): Promise<number> {
    return (await this.#list()).reduce((sum, { notCounted }) => sum + notCounted, 0);
  }

  async #behind(): Promise<number> {
    const [first] = await this.#list();
    return first?.position.behind ?? 0;
  }

  async #list(): Promise<Alert[]> {
    return (await call<{ items: Alert[] }>(this.#url, this.#path, this.#as)).body.data.items;
  }
}

/** A hundred rules as workspaces have them: most count by a filter of their own, some by group, some measure. */
const RULES: readonly object[] = Array.from({ length: 100 }, (_, n) => ({
  name: `rule ${n}`,
  window: n % 2 === 0 ? "1m" : "5m",
  ...ruleAt(n),
}));

function ruleAt(n: number): object {
  const threshold = (value: number) => ({ kind: "threshold", value });
  if (n < 40) return { query: `durationMs:${n * 10} status:200`, condition: threshold(10 + 5 * n) };
  if (n < 60) return { query: `"orders/${n}" level:>=info`, condition: threshold(1 + n * 2) };
  if (n < 80) return { query: `level:error durationMs:>${n * 4}`, condition: threshold(20 * n) };
  if (n < 84) return { query: `level:error userId:>${n} | count by userId`, condition: threshold(1 + (n % 4)) };
  if (n < 90) return { query: `level:>=warn | stats p99(durationMs) by level`, condition: threshold(n * 4) };
  if (n < 94) return { query: `* | stats sum(durationMs) by region`, condition: { kind: "rate", value: n * 1000 } };
  if (n < 97) return { query: `* | stats count_distinct(userId)`, condition: threshold(n * 30) };
  return { query: `message:~/orders.${n}\\d+ completed/`, condition: threshold(n) };
}
