import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import type { LogEntry } from "../../src/types.ts";

/** A request that the sink received. */
export interface Seen {
  at: number;
  id: string;
  headers: IncomingMessage["headers"];
  /** Decompressed NDJSON. */
  body: string;
  entries: LogEntry[];
}

/** The sink's answer. `null` sends no answer; `"cut"` stores the entries and breaks the connection. */
export type Reply = { status: number; headers?: Record<string, string>; body?: unknown } | "cut" | null;

export interface Sink {
  url: string;
  seen: Seen[];
  /** Entries of requests that were answered 2xx or cut, once for each idempotency key, like the service stores them. */
  stored(): LogEntry[];
  /** Number of entries without deduplication by idempotency keys. */
  storedTwice(): number;
  close(): Promise<void>;
}

/** Starts a server that stores entries and answers by `answer`, which gets the number of the request from 0. */
export async function startSink(
  answer: (request: Seen, number: number) => Reply | Promise<Reply> = () => ({ status: 201 }),
): Promise<Sink> {
  const seen: Seen[] = [];
  const accepted: Seen[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const raw = Buffer.concat(chunks);
    const body = (request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw).toString();
    const entries = body
      .trimEnd()
      .split("\n")
      .map((line): LogEntry => JSON.parse(line));
    const one = {
      at: Date.now(),
      id: String(request.headers["idempotency-key"]),
      headers: request.headers,
      body,
      entries,
    };
    const number = seen.push(one) - 1;
    const reply = await answer(one, number);
    if (reply === null) return;
    if (reply === "cut" || reply.status < 300) accepted.push(one);
    if (reply === "cut") {
      response.socket?.destroy();
      return;
    }
    response.writeHead(reply.status, { "Content-Type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.body ?? { success: true, data: { rejected: [] } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("No port.");
  return {
    url: `http://127.0.0.1:${address.port}`,
    seen,
    stored: () => [...new Map(accepted.map((one) => [one.id, one])).values()].flatMap(({ entries }) => entries),
    storedTwice: () => accepted.flatMap(({ entries }) => entries).length,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Milliseconds of real time. */
export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
