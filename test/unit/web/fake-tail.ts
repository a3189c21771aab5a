import type { LogEntry } from "../../../web/src/model/types.ts";
import type { TailPorts, TailSocket, TailStatus } from "../../../web/src/pages/explorer/tail/tail-link.ts";

/** One connection as seen by the service. */
export interface FakeSocket extends TailSocket {
  ticket: string;
  since: number | null;
  sent: string[];
  isClosed: boolean;
  opens(): void;
  /** Sends entries with an inclusive range of seqs. */
  logs(from: number, through: number): void;
  caughtUp(seq: number): void;
  closes(code: number, reason?: string): void;
}

interface Timer {
  at: number;
  call: () => void;
}

/** Ports of a tail with a manual clock. */
export class FakeWorld implements TailPorts {
  readonly sockets: FakeSocket[] = [];
  readonly seqs: number[] = [];
  readonly deliveries: number[][] = [];
  readonly reported: TailStatus[] = [];
  /** Thrown by the ticket route while set. */
  refusal: Error | null = null;
  online = true;
  tickets = 0;
  #timers = new Set<Timer>();
  #now = 0;

  get socket(): FakeSocket {
    const last = this.sockets.at(-1);
    if (last === undefined) throw new Error("no connection was opened");
    return last;
  }

  get status(): TailStatus {
    return this.reported.at(-1) ?? { state: "off", reason: null, buffered: 0 };
  }

  async ticket(): Promise<string> {
    if (this.refusal) throw this.refusal;
    return `ticket-${++this.tickets}`;
  }

  open(ticket: string, since: number | null): TailSocket {
    const socket: FakeSocket = {
      ticket,
      since,
      sent: [],
      isClosed: false,
      onopen: null,
      onmessage: null,
      onclose: null,
      send: (text) => socket.sent.push(text),
      close() {
        socket.isClosed = true;
      },
      opens: () => socket.onopen?.(),
      logs: (from, through) => socket.onmessage?.({ data: logsText(from, through) }),
      caughtUp: (seq) => socket.onmessage?.({ data: JSON.stringify({ type: "caught-up", seq }) }),
      closes: (code, reason = "") => socket.onclose?.({ code, reason }),
    };
    this.sockets.push(socket);
    return socket;
  }

  later(milliseconds: number, call: () => void): () => void {
    const timer = { at: this.#now + milliseconds, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  random(): number {
    return 0;
  }

  isOnline(): boolean {
    return this.online;
  }

  entries(entries: LogEntry[]): void {
    const seqs = entries.map(({ seq }) => seq);
    this.deliveries.push(seqs);
    this.seqs.push(...seqs);
  }

  changed(status: TailStatus): void {
    this.reported.push(status);
  }

  /** Lets pending promises settle. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  }

  /** Advances the clock and runs due timers in order. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      await this.settle();
      const next = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.call();
    }
    this.#now = end;
  }
}

function logsText(from: number, through: number): string {
  const entries = Array.from({ length: through - from + 1 }, (_, index) => ({ seq: from + index, id: `log_${index}` }));
  return JSON.stringify({ type: "logs", entries });
}

/** An inclusive range of numbers. */
export function upTo(from: number, through: number): number[] {
  return Array.from({ length: through - from + 1 }, (_, index) => from + index);
}
