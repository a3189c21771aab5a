import { createInterface } from "node:readline";
import { lostText, type Service } from "./api.ts";
import type { McpCommand } from "./commands.ts";
import { EXIT } from "./failure.ts";
import { type Io, writeLine } from "./io.ts";
import { record } from "./record.ts";

/** Milliseconds after which a request is given up. A search of the service takes less. */
const TIMEOUT_MS = 120_000;
/** Messages that are answered at the same time. */
const AT_ONCE = 8;
const VERSION_MEMBER = "io.modelcontextprotocol/protocolVersion";
/** Codes of JSON-RPC: the message cannot be read, is none, or its answer did not come. */
const RPC = { parse: -32700, request: -32600, lost: -32603 } as const;
/** The notification by which a client ends a request of its own. */
const CANCELLED = "notifications/cancelled";

/** Serves the MCP server of the service to a local agent: each line of standard input is a message, each line of output an answer. */
export async function mcp(io: Io, { service }: McpCommand): Promise<number> {
  const session = new McpSession(service, io.stop);
  const open = new Set<Promise<void>>();
  const lines = createInterface({ input: io.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  io.stop.addEventListener("abort", () => lines.close());
  for await (const line of lines) {
    if (line.trim() === "") continue;
    const work = session.answer(line).then(async (answer) => {
      if (answer !== null) await writeLine(io, answer);
    });
    const tracked: Promise<void> = work.finally(() => open.delete(tracked));
    open.add(tracked);
    // The revision of the connection follows from the first answer.
    if (!session.isOpen || open.size >= AT_ONCE) await Promise.race(open);
  }
  await Promise.all(open);
  return EXIT.ok;
}

/** Sends messages to the service. Revisions with `initialize` keep the revision that was agreed on. */
export class McpSession {
  readonly #service: Service;
  readonly #stop: AbortSignal;
  #version: string | null = null;
  /** Requests without an answer, by id. */
  readonly #open = new Map<unknown, AbortController>();

  constructor(service: Service, stop: AbortSignal) {
    this.#service = service;
    this.#stop = stop;
  }

  /** Whether a revision is agreed on. */
  get isOpen(): boolean {
    return this.#version !== null;
  }

  /** Returns the answer to a message, one line; `null` for a notification and for a request that the client has cancelled. */
  async answer(line: string): Promise<string | null> {
    let message: Record<string, unknown> | null;
    try {
      const value: unknown = JSON.parse(line);
      message = Array.isArray(value) ? null : record(value);
    } catch {
      return failed(null, RPC.parse, "The line is not valid JSON.");
    }
    if (message === null) return failed(null, RPC.request, "The line is not one message. Batches are not supported.");
    if (message.method === CANCELLED) {
      this.#open.get(record(message.params)?.requestId)?.abort();
      return null;
    }
    const id = message.id ?? null;
    const cancel = new AbortController();
    if (id !== null) this.#open.set(id, cancel);
    try {
      const answer = await this.#send(message, line, cancel.signal);
      return id === null || cancel.signal.aborted ? null : JSON.stringify({ ...answer, id });
    } catch (error) {
      return id === null || cancel.signal.aborted ? null : failed(id, RPC.lost, lostText(this.#service, error));
    } finally {
      if (this.#open.get(id) === cancel) this.#open.delete(id);
    }
  }

  /** Returns the answer of the service; nothing for a notification. An answer to what was refused before it was read has no id. */
  async #send(message: Record<string, unknown>, line: string, cancelled: AbortSignal): Promise<object | null> {
    const response = await fetch(`${this.#service.url}/mcp`, {
      method: "POST",
      headers: this.#headersOf(message),
      body: line,
      redirect: "manual",
      signal: AbortSignal.any([this.#stop, cancelled, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    const text = await response.text();
    if ((message.id ?? null) === null) return null;
    const answer = record(JSON.parse(text));
    if (answer?.jsonrpc !== "2.0") throw new Error(`status ${response.status}`);
    const version = record(answer.result)?.protocolVersion;
    if (message.method === "initialize" && typeof version === "string") this.#version = version;
    return answer;
  }

  /** The headers of streamable HTTP, which repeat members of the message. */
  #headersOf(message: Record<string, unknown>): Record<string, string> {
    const params = record(message.params);
    const own = record(params?._meta)?.[VERSION_MEMBER];
    if (typeof own === "string") this.#version = own;
    const isModern = typeof own === "string";
    const { method } = message;
    const name = params?.name ?? params?.uri;
    return {
      Authorization: `Bearer ${this.#service.key}`,
      Accept: "application/json, text/event-stream",
      "Content-Type": "application/json",
      ...(this.#version === null || method === "initialize"
        ? {}
        : { "MCP-Protocol-Version": headerText(this.#version) }),
      ...(isModern && typeof method === "string" ? { "Mcp-Method": headerText(method) } : {}),
      ...(isModern && typeof name === "string" ? { "Mcp-Name": headerText(name) } : {}),
    };
  }
}

/** What a header cannot hold is left out: the service refuses the message, and says why. */
function headerText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "");
}

function failed(id: unknown, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });
}
