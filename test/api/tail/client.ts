import { WebSocket } from "undici";

export interface TailEntry {
  seq: number;
  message: string;
}

interface Frame {
  type: string;
  entries?: TailEntry[];
  seq?: number;
  code?: string;
}

/** A tail of a real server, from outside. */
export class TailClient {
  readonly entries: TailEntry[] = [];
  /** When each entry arrived, by `performance.now()`. */
  readonly times: number[] = [];
  readonly caughtUp: number[] = [];
  readonly errors: string[] = [];
  closed: { code: number; reason: string } | null = null;
  readonly #socket: WebSocket;
  #wake: () => void = () => {};

  static async open(
    url: string,
    projectId: string,
    token: string,
    query = "",
    more: Readonly<Record<string, string>> = {},
  ): Promise<TailClient> {
    const headers = { Authorization: `Bearer ${token}`, ...more };
    const socket = new WebSocket(`${url.replace("http", "ws")}/logger/${projectId}/tail${query}`, { headers });
    const client = new TailClient(socket);
    await client.until(() => client.caughtUp.length > 0 || client.entries.length > 0 || client.closed !== null);
    if (client.closed) throw new Error(`The tail was refused: ${JSON.stringify(client.closed)}`);
    return client;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      // SAFETY: each member of a frame is checked before it is used.
      const frame = JSON.parse(String(data)) as Frame;
      for (const entry of frame.entries ?? []) {
        this.entries.push(entry);
        this.times.push(performance.now());
      }
      if (frame.type === "caught-up") this.caughtUp.push(frame.seq ?? Number.NaN);
      if (frame.type === "error") this.errors.push(frame.code ?? "");
      const seq = frame.entries?.at(-1)?.seq ?? frame.seq;
      if (seq !== undefined && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ type: "ack", seq }));
      this.#wake();
    });
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
      this.#wake();
    });
    socket.addEventListener("error", () => {});
  }

  get seqs(): number[] {
    return this.entries.map(({ seq }) => seq);
  }

  async until(holds: () => boolean, timeoutMs = 20_000): Promise<void> {
    const giveUp = performance.now() + timeoutMs;
    while (!holds()) {
      if (performance.now() > giveUp) throw new Error(`Waited in vain: ${this.entries.length} entries.`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 50);
      });
    }
  }

  has(count: number): Promise<void> {
    return this.until(() => this.entries.length >= count);
  }

  close(): void {
    this.#socket.close();
  }
}
