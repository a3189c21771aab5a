import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { StartFailure } from "../../scripts/lib/failure.ts";
import { claimablePort } from "../../scripts/lib/port.ts";
import { DOOR_FORMATS, type DoorFormat, doorBody } from "../load/door-bodies.ts";
import type { LoadGenerator } from "../load/generator.ts";
import type { BenchOptions } from "../options.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { newTenant, storedEntries } from "../tenant.ts";
import { type Contender, compare, type Figures } from "./contender.ts";

const BATCHES = [50, 1000];
const CONNECTIONS = 16;
const HOST = "127.0.0.1";
const START_MS = 10_000;

/** Routes of both servers for a format. */
const ROUTES: Readonly<Record<DoorFormat, { path: string; peerPath: string; type: string; status: number }>> = {
  "otlp protobuf": {
    path: "/v1/logs",
    peerPath: "/insert/opentelemetry/v1/logs?_stream_fields=service.name",
    type: "application/x-protobuf",
    status: 200,
  },
  "otlp json": {
    path: "/v1/logs",
    peerPath: "/insert/opentelemetry/v1/logs?_stream_fields=service.name",
    type: "application/json",
    status: 200,
  },
  "loki snappy": {
    path: "/loki/api/v1/push",
    peerPath: "/insert/loki/api/v1/push?_msg_field=message",
    type: "application/x-protobuf",
    status: 204,
  },
  "es bulk": {
    path: "/es/_bulk",
    peerPath: "/insert/elasticsearch/_bulk?_msg_field=message&_time_field=@timestamp&_stream_fields=service.name",
    type: "application/x-ndjson",
    status: 200,
  },
  ndjson: {
    path: "/ingest",
    peerPath: "/insert/jsonline?_msg_field=msg&_time_field=time&_stream_fields=service",
    type: "application/x-ndjson",
    status: 200,
  },
};

export const PEER = "VictoriaLogs";
export const DOOR_SERVICE = "taffrail";

/** What each request costs on this runtime at least, whatever a service does: steps of `workers/floor.ts`. */
const FLOORS = [
  { action: "read", name: "floor: body read" },
  { action: "receive", name: "floor: and sent to an object" },
  { action: "append", name: "floor: and stored as a row" },
] as const;
type Floor = (typeof FLOORS)[number];
/** The format whose bodies the floors get. Those of others are of about the same size, or smaller. */
const FLOOR_FORMAT: DoorFormat = "ndjson";

export interface DoorRow extends Figures {
  format: DoorFormat;
  contender: string;
  batch: number;
  entriesPerSecond: number;
  cpuMicrosPerEntry: number | null;
  allCpuMicrosPerEntry: number | null;
  /** CPU of an entry relative to the peer's; `null` without it. */
  cpuRatio: number | null;
}

/** Ingest in the protocols of other clients, beside the floors, and beside a VictoriaLogs if its executable is given. */
export async function benchDoors(
  workshop: Workshop,
  generator: LoadGenerator,
  options: BenchOptions,
  report: (row: DoorRow) => void,
): Promise<DoorRow[]> {
  const floor = await workshop.startWorker(await workshop.bundle("floor", "own"));
  const service = await workshop.startService();
  const peer = options.victorialogs === null ? null : await startPeer(options.victorialogs, workshop.newDataDir());
  const rows: DoorRow[] = [];
  for (const format of DOOR_FORMATS) {
    for (const batch of BATCHES) {
      const ours = serviceContender(service, format, batch);
      const hasPeer = peer !== null && (await accepts(peer, format));
      const floors = format === FLOOR_FORMAT ? FLOORS.map((each) => floorContender(floor, each, batch)) : [];
      const contenders = [...(hasPeer ? [peerContender(peer, format, batch)] : []), ours, ...floors];
      const { figures, cpuRatios } = await compare(generator, contenders, { ...options, connections: CONNECTIONS });
      figures.forEach((own, at) => {
        const { requestsPerSecond, cpuMicrosPerRequest: cpu, allCpuMicrosPerRequest: all } = own;
        const row = {
          ...{ format, batch, contender: contenders[at]?.name ?? "", ...own },
          entriesPerSecond: requestsPerSecond * batch,
          cpuMicrosPerEntry: cpu === null ? null : cpu / batch,
          allCpuMicrosPerEntry: all === null ? null : all / batch,
          cpuRatio: hasPeer ? (cpuRatios[at] ?? null) : null,
        };
        rows.push(row);
        report(row);
      });
    }
  }
  peer?.child.kill("SIGKILL");
  await service.stop();
  await floor.stop();
  return rows;
}

function serviceContender({ url, pid }: BenchServer, format: DoorFormat, batch: number): Contender {
  const { path, type, status } = ROUTES[format];
  return {
    name: DOOR_SERVICE,
    async prepare() {
      const tenant = await newTenant(url, 1);
      const [{ id, key } = { id: "", key: "" }] = tenant.projects;
      const headers = { "content-type": type, authorization: `Bearer ${key}` };
      const common = { origin: url, idempotent: false, batch, format, serverPid: pid, expectedStatus: status };
      return {
        load: { ...common, path, headers },
        stored: async () => (await storedEntries(url, tenant, id)) / batch,
        async end() {},
      };
    },
  };
}

function floorContender({ url, pid }: BenchServer, { action, name }: Floor, batch: number): Contender {
  const common = { origin: url, idempotent: false, batch, format: FLOOR_FORMAT, serverPid: pid, expectedStatus: 201 };
  return {
    name,
    async prepare() {
      const object = randomUUID();
      return {
        load: { ...common, path: `/${action}/${object}`, headers: { "content-type": ROUTES[FLOOR_FORMAT].type } },
        stored: null,
        // Raw bodies of one run have up to a gigabyte.
        async end() {
          await fetch(`${url}/drop/${object}`);
        },
      };
    },
  };
}

interface Peer {
  url: string;
  child: ChildProcess;
}

function peerContender({ url, child }: Peer, format: DoorFormat, batch: number): Contender {
  const { peerPath: path, type, status } = ROUTES[format];
  const common = { origin: url, idempotent: false, batch, format, serverPid: child.pid ?? 0, expectedStatus: status };
  return {
    name: PEER,
    async prepare() {
      return { load: { ...common, path, headers: { "content-type": type } }, stored: null, async end() {} };
    },
  };
}

/** Whether the peer has a door for a format. */
async function accepts({ url }: Peer, format: DoorFormat): Promise<boolean> {
  const { peerPath, type, status } = ROUTES[format];
  const body = new Uint8Array(doorBody(format, 1, 0).bytes);
  const answer = await fetch(`${url}${peerPath}`, { method: "POST", headers: { "content-type": type }, body });
  await answer.body?.cancel();
  return answer.status === status;
}

async function startPeer(binary: string, directory: string): Promise<Peer> {
  const port = await claimablePort(HOST, 0);
  const flags = [`-httpListenAddr=${HOST}:${port}`, `-storageDataPath=${directory}`, "-retentionPeriod=30d"];
  const child = spawn(binary, [...flags, "-loggerLevel=ERROR"], { stdio: ["ignore", "ignore", "ignore"] });
  process.on("exit", () => child.kill("SIGKILL"));
  await once(child, "spawn");
  const url = `http://${HOST}:${port}`;
  for (const until = Date.now() + START_MS; Date.now() < until; await setTimeout(50)) {
    const answer = await fetch(`${url}/health`).catch(() => null);
    if (answer?.ok) return { url, child };
  }
  throw new StartFailure("VictoriaLogs does not answer.");
}
