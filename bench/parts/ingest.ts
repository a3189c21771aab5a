import { randomUUID } from "node:crypto";
import type { LoadGenerator } from "../load/generator.ts";
import type { BenchOptions } from "../options.ts";
import { peakMemoryMiB } from "../process-stats.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { newTenant, storedEntries } from "../tenant.ts";
import { type Contender, compare, type Figures } from "./contender.ts";

const BATCHES = [1, 50, 1000];
const CONNECTIONS = [16, 64];
/** The largest request, sent as NDJSON: 6.6 MB. */
const LARGEST_BATCH = 20_000;
const LARGEST_CONNECTIONS = 4;
/** The size of batch that is also measured with an `Idempotency-Key`: the client library's default. */
const KEYED_BATCH = 50;

export interface IngestRow extends Figures {
  contender: string;
  batch: number;
  connections: number;
  entriesPerSecond: number;
  cpuMicrosPerEntry: number | null;
  /** Including the server's later work: moving batches to the cold tier. */
  allCpuMicrosPerEntry: number | null;
  /** Entries per second relative to the floor's. */
  ratioToFloor: number;
}

export interface IngestResults {
  rows: IngestRow[];
  /** Peak memory of the service's process after all runs. */
  peakMemoryMiB: number | null;
}

const FLOOR = "floor";
export const SERVICE = "taffrail";
const SERVICE_KEYED = "taffrail, Idempotency-Key";
/** A steady load instead of a burst: entries move to the cold tier immediately. */
const SERVICE_FLUSHING = "taffrail, to the cold tier";
/** The size of batch in this measurement, and the minimum for the bytes of the recent tier. */
const FLUSHED_BATCH = 1000;
const FLUSHING_RECENT_BYTES = "10000";

/** The service compared with the floor, for each size of batch and number of connections. */
export async function benchIngest(
  workshop: Workshop,
  generator: LoadGenerator,
  options: BenchOptions,
  report: (row: IngestRow) => void,
): Promise<IngestResults> {
  const floor = await workshop.startWorker(await workshop.bundle("floor", "own"));
  const service = await workshop.startService();
  const flushing = await workshop.startService(undefined, { RECENT_MAX_BYTES: FLUSHING_RECENT_BYTES });
  const rows: IngestRow[] = [];
  const loads = BATCHES.flatMap((batch) => CONNECTIONS.map((connections) => ({ batch, connections })));
  for (const { batch, connections } of [...loads, { batch: LARGEST_BATCH, connections: LARGEST_CONNECTIONS }]) {
    const contenders = contendersOf({ floor, service, flushing }, batch);
    const { figures, ratios } = await compare(generator, contenders, { ...options, connections });
    figures.forEach((own, at) => {
      const contender = contenders[at]?.name ?? "";
      const row = rowOf(own, { contender, batch, connections, ratioToFloor: ratios[at] ?? Number.NaN });
      rows.push(row);
      report(row);
    });
  }
  const memory = peakMemoryMiB(service.pid);
  await service.stop();
  await flushing.stop();
  await floor.stop();
  return { rows, peakMemoryMiB: memory };
}

function rowOf(
  figures: Figures,
  of: Pick<IngestRow, "contender" | "batch" | "connections" | "ratioToFloor">,
): IngestRow {
  const { cpuMicrosPerRequest: cpu, allCpuMicrosPerRequest: all } = figures;
  return {
    ...of,
    ...figures,
    entriesPerSecond: figures.requestsPerSecond * of.batch,
    cpuMicrosPerEntry: cpu === null ? null : cpu / of.batch,
    allCpuMicrosPerEntry: all === null ? null : all / of.batch,
  };
}

type Servers = Record<"floor" | "service" | "flushing", BenchServer>;

function contendersOf({ floor, service, flushing }: Servers, batch: number): Contender[] {
  return [
    floorContender(floor, batch),
    serviceContender(SERVICE, service, batch, false),
    ...(batch === KEYED_BATCH ? [serviceContender(SERVICE_KEYED, service, batch, true)] : []),
    ...(batch === FLUSHED_BATCH ? [serviceContender(SERVICE_FLUSHING, flushing, batch, false)] : []),
  ];
}

function floorContender({ url, pid }: BenchServer, batch: number): Contender {
  const common = { origin: url, idempotent: false, batch, serverPid: pid, expectedStatus: 201 };
  const headers = { "content-type": "application/json" };
  return {
    name: FLOOR,
    async prepare() {
      const name = randomUUID();
      return {
        load: { ...common, path: `/append/${name}`, headers },
        stored: async () => Number((await answerOf(`${url}/count/${name}`)).bodies),
        async end() {
          await answerOf(`${url}/drop/${name}`);
        },
      };
    },
  };
}

function serviceContender(name: string, { url, pid }: BenchServer, batch: number, idempotent: boolean): Contender {
  const common = { origin: url, idempotent, batch, serverPid: pid, expectedStatus: 201 };
  return {
    name,
    async prepare() {
      const tenant = await newTenant(url, 1);
      const [{ id, key } = { id: "", key: "" }] = tenant.projects;
      const type = batch === LARGEST_BATCH ? "application/x-ndjson" : "application/json";
      const headers = { "content-type": type, authorization: `Bearer ${key}` };
      return {
        load: { ...common, path: `/logger/${id}/log`, headers },
        stored: async () => (await storedEntries(url, tenant, id)) / batch,
        async end() {},
      };
    },
  };
}

async function answerOf(url: string): Promise<Record<string, unknown>> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
  // SAFETY: the bench's own worker returns an object.
  return (await answer.json()) as Record<string, unknown>;
}
