import { exports } from "cloudflare:workers";
import { expect } from "vitest";
import { z } from "zod";
import { bearer } from "../accounts/support.ts";

const frameShape = z.union([
  z.strictObject({
    type: z.literal("logs"),
    entries: z.array(z.looseObject({ seq: z.number(), message: z.string() })),
  }),
  z.strictObject({ type: z.literal("caught-up"), seq: z.number() }),
  z.strictObject({ type: z.literal("error"), code: z.string() }),
]);
export type Frame = z.output<typeof frameShape>;

const WAIT_MS = 5000;

/** The client of a tail. */
export class Client {
  readonly frames: Frame[] = [];
  closed: { code: number; reason: string } | null = null;
  readonly #socket: WebSocket;
  #wake: () => void = () => {};
  /** Acknowledges each frame of entries when it arrives. */
  #acks: boolean;

  constructor(socket: WebSocket, acks: boolean) {
    this.#socket = socket;
    this.#acks = acks;
    socket.addEventListener("message", ({ data }) => {
      const frame = frameShape.parse(JSON.parse(String(data)));
      this.frames.push(frame);
      const last = frame.type === "logs" ? frame.entries.at(-1) : undefined;
      if (this.#acks && last) this.ack(last.seq);
      this.#wake();
    });
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
      this.#wake();
    });
    socket.accept();
  }

  get entries() {
    return this.frames.flatMap((frame) => (frame.type === "logs" ? frame.entries : []));
  }

  get seqs(): number[] {
    return this.entries.map(({ seq }) => seq);
  }

  get messages(): string[] {
    return this.entries.map(({ message }) => message);
  }

  get caughtUp(): number[] {
    return this.frames.flatMap((frame) => (frame.type === "caught-up" ? [frame.seq] : []));
  }

  get errors(): string[] {
    return this.frames.flatMap((frame) => (frame.type === "error" ? [frame.code] : []));
  }

  /** Waits until a condition on the received frames holds. */
  async until(holds: (client: Client) => boolean, what = "it"): Promise<void> {
    // `Date` is mocked in tests.
    const giveUp = performance.now() + WAIT_MS;
    while (!holds(this)) {
      if (performance.now() > giveUp) {
        const seen = this.frames.map((frame) => (frame.type === "logs" ? `logs(${frame.entries.length})` : frame.type));
        throw new Error(`Timeout while waiting for ${what}: ${seen.join(" ")} ${JSON.stringify(this.closed)}`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 20);
      });
    }
  }

  has(count: number): Promise<void> {
    return this.until(({ entries }) => entries.length >= count, `${count} entries`);
  }

  ends(): Promise<void> {
    return this.until(({ closed }) => closed !== null, "the end");
  }

  ack(seq: number): void {
    this.send(JSON.stringify({ type: "ack", seq }));
  }

  send(message: string | ArrayBuffer): void {
    this.#socket.send(message);
  }

  close(): void {
    this.#socket.close(1000, "done");
  }
}

export interface TailOptions {
  query?: string;
  headers?: Record<string, string>;
  acks?: boolean;
}

export function tailResponse(projectId: string, { query = "", headers = {} }: TailOptions): Promise<Response> {
  const url = `http://taffrail.test/logger/${projectId}/tail${query}`;
  return exports.default.fetch(new Request(url, { headers: { Upgrade: "websocket", ...headers } }));
}

/** Opens a tail, and fails the test if it is refused. */
export async function openTail(projectId: string, options: TailOptions): Promise<Client> {
  const response = await tailResponse(projectId, options);
  if (!response.webSocket) expect([response.status, await response.text()]).toEqual([101, ""]);
  if (!response.webSocket) throw new Error("There is no socket.");
  return new Client(response.webSocket, options.acks ?? true);
}

/** Like `openTail`, with a key. */
export function tailOf(
  { projectId, secret }: { projectId: string; secret: string },
  options: TailOptions = {},
): Promise<Client> {
  return openTail(projectId, { ...options, headers: { ...bearer(secret), ...options.headers } });
}

export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
