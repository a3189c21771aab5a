import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "undici";
import { call } from "../../test/support/api.ts";
import type { BenchProject } from "../tenant.ts";

const TAILS = 4;
/** Entries between two acknowledgements; the maximum for a tail is 1,000. */
const ACK_EVERY = 500;
/** Maximum milliseconds until tails reach the newest entry at the end. */
const CATCH_UP_MS = 60_000;
/** Milliseconds from a response to the next request of the same kind. */
const REST_MS = 100;

export interface Figures {
  latencies: number[];
  /** Number of responses by status. */
  answers: Record<string, number>;
}

interface Page {
  logs: { seq: number; id: string }[];
  complete: boolean;
}

/** Slow queries, histograms, contexts and tails of one project, each in a loop. All responses are verified. */
export class Readers {
  readonly figures = new Map<string, Figures>();
  readonly #url: string;
  readonly #project: BenchProject;
  readonly #faults = new Set<string>();
  readonly #tails: SoakTail[] = [];
  #loops: Promise<void>[] = [];
  #isOver = true;

  constructor(url: string, project: BenchProject) {
    this.#url = url;
    this.#project = project;
  }

  openTails(): void {
    for (let tail = 0; tail < TAILS; tail++) this.#tails.push(new SoakTail(this.#url, this.#project));
  }

  start(): void {
    this.#isOver = false;
    this.#loops = [
      this.#loop("search without a match", () => this.#searchNothing()),
      this.#loop("newest page", () => this.#newest()),
      this.#loop("histogram by level", () => this.#histogram({})),
      this.#loop("filtered histogram", () => this.#histogram({ search: "status 200" })),
      this.#loop("context", () => this.#context()),
    ];
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  /** Waits for the tails. @returns the problems found */
  async finish(lastSeq: number): Promise<string[]> {
    const giveUpAt = performance.now() + CATCH_UP_MS;
    while (performance.now() < giveUpAt && this.#tails.some(({ place }) => place < lastSeq)) await wait(100);
    for (const tail of this.#tails) {
      tail.close();
      if (tail.fault !== null) this.#faults.add(`a tail: ${tail.fault}`);
      else if (tail.place < lastSeq) this.#faults.add(`a tail came to ${tail.place} of ${lastSeq}`);
    }
    for (const [name, { answers }] of this.figures) {
      for (const [status, count] of Object.entries(answers)) {
        if (status !== "200") this.#faults.add(`${name}: ${count} answers of ${status}`);
      }
    }
    return [...this.#faults];
  }

  async #loop(name: string, ask: () => Promise<number | null>): Promise<void> {
    const figures = this.figures.get(name) ?? { latencies: [], answers: {} };
    this.figures.set(name, figures);
    while (!this.#isOver) {
      const startedAt = performance.now();
      const status = await ask().catch((error: unknown) => {
        this.#faults.add(`${name}: ${error instanceof Error ? error.message : error}`);
        return null;
      });
      if (status !== null) {
        figures.latencies.push(performance.now() - startedAt);
        figures.answers[status] = (figures.answers[status] ?? 0) + 1;
      }
      await wait(REST_MS);
    }
  }

  async #ask<Data>(path: string, body?: object): Promise<{ status: number; data: Data | null }> {
    const answer = await call<Data>(this.#url, path, { token: this.#project.key, ...(body ? { body } : {}) });
    if (answer.status >= 300) this.#faults.add(`${path}: ${answer.status} ${answer.body.error?.message}`);
    return { status: answer.status, data: answer.status < 300 ? answer.body.data : null };
  }

  async #searchNothing(): Promise<number> {
    const filters = { search: "no entry has this text" };
    const { status, data } = await this.#ask<Page>("/logger/query", { filters, pagination: { limit: 100 } });
    if (data && data.logs.length > 0) this.#faults.add("A search found what is not there.");
    return status;
  }

  /** A page by time, which must contain each `seq` once. */
  async #newest(): Promise<number> {
    const { status, data } = await this.#ask<Page>("/logger/query", { pagination: { limit: 1000 } });
    const seqs = data?.logs.map(({ seq }) => seq) ?? [];
    if (new Set(seqs).size < seqs.length) this.#faults.add("A page has an entry twice.");
    return status;
  }

  /**
   * All of the project: at least as many entries as before, and at most as many as afterwards. A receipt states the
   * exact number.
   */
  async #histogram(filters: object): Promise<number> {
    const before = await this.#sendOne();
    const { status, data } = await this.#ask<{ total: number; complete: boolean }>("/logger/stats", {
      filters,
      interval: "1h",
      groupBy: "level",
    });
    const after = await this.#sendOne();
    if (data?.complete && before !== null && after !== null && (data.total < before || data.total > after)) {
      this.#faults.add(`A histogram counted ${data.total}, where ${before} to ${after} were there.`);
    }
    return status;
  }

  async #sendOne(): Promise<number | null> {
    const body = { message: "status 200", timestamp: Date.now() };
    const { data } = await this.#ask<{ lastSeq: number }>(`/logger/${this.#project.id}/log`, body);
    return data?.lastSeq ?? null;
  }

  async #context(): Promise<number | null> {
    const { status, data } = await this.#ask<Page>("/logger/query", { pagination: { limit: 1, offset: 5000 } });
    const [entry] = data?.logs ?? [];
    if (!entry) return data ? null : status;
    const found = await this.#ask<{ before: { seq: number }[]; after: { seq: number }[] }>(
      `/logger/${this.#project.id}/log/${entry.id}?before=100&after=100`,
    );
    const seqs = found.data ? [...found.data.before, entry, ...found.data.after].map(({ seq }) => seq) : [];
    if (seqs.some((seq, at) => at > 0 && seq !== (seqs[at - 1] ?? 0) + 1)) this.#faults.add("A context has a gap.");
    return found.status;
  }
}

/** One tail from the first entry on, which verifies every `seq` in order. */
class SoakTail {
  place = 0;
  fault: string | null = null;
  readonly #socket: WebSocket;
  #acknowledged = 0;
  #isClosed = false;

  constructor(url: string, { id, key }: BenchProject) {
    this.#socket = new WebSocket(`${url.replace("http", "ws")}/logger/${id}/tail?since=0`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    this.#socket.addEventListener("message", ({ data }) => this.#take(String(data)));
    this.#socket.addEventListener("close", ({ code, reason }) => {
      if (!this.#isClosed) this.fault ??= `closed with ${code} ${reason} at ${this.place}`;
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.close();
  }

  #take(text: string): void {
    // SAFETY: the frames' shape is the contract's; an entry out of order is a fault below.
    const frame = JSON.parse(text) as { type: string; entries?: { seq: number }[] };
    for (const { seq } of frame.entries ?? []) {
      if (seq !== this.place + 1) this.fault ??= `${seq} came after ${this.place}`;
      this.place = seq;
    }
    if (this.place - this.#acknowledged < ACK_EVERY) return;
    this.#acknowledged = this.place;
    this.#socket.send(JSON.stringify({ type: "ack", seq: this.place }));
  }
}
