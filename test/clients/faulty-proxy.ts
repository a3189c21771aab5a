import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What happens to a request on its way. Shares of all requests; the rest passes. */
export interface FaultShares {
  /** The service stores the request, and its answer is lost. */
  swallowed: number;
  /** The connection is reset before the request reaches the service. */
  reset: number;
  /** The proxy answers 429, and 503, without passing the request on. */
  limited: number;
  unavailable: number;
}

export const FAULTS: FaultShares = { swallowed: 0.2, reset: 0.05, limited: 0.05, unavailable: 0.05 };

/** Requests by what happened to them. */
export interface ProxyCounts {
  requests: number;
  passed: number;
  swallowed: number;
  reset: number;
  limited: number;
  unavailable: number;
  /** Answers of the service that were not 2xx, by status. */
  refused: Record<string, number>;
}

export interface FaultyProxy {
  url: string;
  counts: ProxyCounts;
  /** From now on every request passes. */
  heal(): void;
  close(): Promise<void>;
}

/**
 * A proxy between a client and the service that loses answers. Requests without a body, such as handshakes, pass.
 * @param seed determines which requests fail
 */
export async function startFaultyProxy(target: string, shares: FaultShares, seed: number): Promise<FaultyProxy> {
  const counts: ProxyCounts = {
    ...{ requests: 0, passed: 0, swallowed: 0, reset: 0, limited: 0, unavailable: 0 },
    refused: {},
  };
  const random = seeded(seed);
  let isHealed = false;
  const server = createServer(async (from, to) => {
    const body = await bodyOf(from);
    if (body === null) return;
    const fate = isHealed || body.length === 0 ? "passed" : fateOf(random(), shares);
    if (body.length > 0) {
      counts.requests++;
      counts[fate]++;
    }
    if (fate === "reset") from.socket.resetAndDestroy();
    else if (fate === "limited" || fate === "unavailable") to.writeHead(fate === "limited" ? 429 : 503).end();
    else await pass(target, from, to, body, fate === "swallowed", counts.refused);
  });
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  // SAFETY: a server that listens on a port has an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    counts,
    heal() {
      isHealed = true;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

type Fate = "passed" | keyof FaultShares;

function fateOf(random: number, { swallowed, reset, limited, unavailable }: FaultShares): Fate {
  let bound = swallowed;
  if (random < bound) return "swallowed";
  bound += reset;
  if (random < bound) return "reset";
  bound += limited;
  if (random < bound) return "limited";
  return random < bound + unavailable ? "unavailable" : "passed";
}

async function bodyOf(from: IncomingMessage): Promise<Buffer | null> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of from) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch {
    // The client has ended the connection.
    return null;
  }
}

async function pass(
  target: string,
  from: IncomingMessage,
  to: ServerResponse,
  body: Buffer,
  isSwallowed: boolean,
  refused: Record<string, number>,
): Promise<void> {
  const headers = { ...from.headers, host: new URL(target).host, "content-length": String(body.length) };
  delete headers["transfer-encoding"];
  await new Promise<void>((resolve) => {
    const on = request(`${target}${from.url}`, { method: from.method ?? "GET", headers }, (answer) => {
      const status = answer.statusCode ?? 0;
      if (status >= 300) refused[status] = (refused[status] ?? 0) + 1;
      if (isSwallowed) {
        answer.resume();
        answer.on("end", () => {
          from.socket.resetAndDestroy();
          resolve();
        });
        return;
      }
      to.writeHead(status, answer.headers);
      answer.pipe(to);
      answer.on("close", resolve);
    });
    on.on("error", () => {
      from.socket.resetAndDestroy();
      resolve();
    });
    on.end(body);
  });
}

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
