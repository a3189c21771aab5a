/**
 * The sink of all cells: a process with a server for each, which fails as its scenario defines and counts what it
 * stored. Accepts any body that names its entries like `@000123@`, and responds like the service: a known
 * `Idempotency-Key` stores nothing again, a 400 names the entry, and a receipt reports no rejections.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { gunzipSync } from "node:zlib";
import { type Answer, SCENARIOS, type ScenarioName } from "./scenarios.ts";

export type Order =
  | { id: number; order: "open"; scenario: ScenarioName }
  | { id: number; order: "look" | "close"; port: number };

export interface Look {
  requests: number;
  /** Different entries stored. */
  stored: number;
  /** Entries stored more than once. */
  doubled: number;
  /** Milliseconds since the last request or response; `null` before the first. */
  quiet: number | null;
}

interface Cell {
  server: Server;
  look(): Look;
}

const cells = new Map<number, Cell>();

// Ends with the process that started it.
process.on("disconnect", () => process.exit());

process.on("message", async (order: Order) => {
  if (order.order === "open") {
    process.send?.({ id: order.id, port: await open(order.scenario) });
    return;
  }
  const cell = cells.get(order.port);
  process.send?.({ id: order.id, look: cell?.look() });
  if (order.order === "close") {
    cell?.server.closeAllConnections();
    cell?.server.close();
    cells.delete(order.port);
  }
});

async function open(name: ScenarioName): Promise<number> {
  const scenario = SCENARIOS[name];
  const keys = new Set<string>();
  const times = new Map<number, number>();
  let requests = 0;
  let start = 0;
  let last = 0;

  const server = createServer((request, response) => {
    const nth = requests++;
    last = Date.now();
    start ||= last;
    const chunks: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const entries = named(Buffer.concat(chunks), request.headers["content-encoding"]);
      const answer: Answer = scenario.answer({ nth, since: Date.now() - start, start, entries });
      if (answer.stores) store(entries, request.headers["idempotency-key"]);
      last = Date.now();
      if (answer.status === null) return;
      setTimeout(() => {
        last = Date.now();
        const { status } = answer;
        if (status === "cut" || status === null) request.socket.destroy();
        else response.writeHead(status, { "Content-Type": "application/json", ...answer.headers }).end(bodyOf(answer));
      }, answer.delay ?? 0);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");

  function store(entries: readonly number[], key: string | string[] | undefined): void {
    if (key !== undefined && keys.has(String(key))) return;
    if (key !== undefined) keys.add(String(key));
    for (const entry of entries) times.set(entry, (times.get(entry) ?? 0) + 1);
  }

  cells.set(address.port, {
    server,
    look: () => ({
      requests,
      stored: times.size,
      doubled: [...times.values()].reduce((sum, count) => sum + count - 1, 0),
      quiet: last === 0 ? null : Date.now() - last,
    }),
  });
  return address.port;
}

/** Each entry once, even if a format repeats its text. */
function named(body: Buffer, encoding: string | undefined): number[] {
  const plain = encoding === "gzip" ? gunzipSync(body) : body;
  return [...new Set(plain.toString("latin1").match(/@\d{6}@/g))].map((name) => Number(name.slice(1, -1)));
}

function bodyOf({ status, index }: Answer): string {
  const meta = { timestamp: new Date().toISOString() };
  if (status === 200) return JSON.stringify({ success: true, data: { rejected: [] }, error: null, meta });
  const details = index === undefined ? [] : [{ path: `logs.${index}.message`, index, code: "INVALID_MESSAGE" }];
  const error = { code: status === 429 ? "RATE_LIMITED" : "REFUSED", message: `Answered ${status}`, details };
  return JSON.stringify({ success: false, data: null, error, message: error.message, meta });
}
