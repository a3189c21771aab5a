import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import type { LogEntry } from "../../src/types.ts";

/** One request as the sink saw it. */
export interface Seen {
  at: number;
  id: string;
  headers: IncomingMessage["headers"];
  /** NDJSON, inflated. */
  body: string;
  entries: LogEntry[];
}

/** What the sink answers; `null` says nothing, `"cut"` stores and then breaks the connection. */
export type Reply = { status: number; headers?: Record<string, string>; body?: unknown } | "cut" | null;

export interface Sink {
  url: string;
  seen: Seen[];
  /** Entries of requests answered 2xx or cut, each idempotency key once, as the service stores them. */
  stored(): LogEntry[];
  /** How many entries would be there without the idempotency keys. */
  storedTwice(): number;
  close(): Promise<void>;
}

/** A server that takes entries, and fails as it is told to. `answer` gets the request's number from 0. */
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
