import { setTimeout } from "node:timers/promises";
import { asUser, call, createTenant, type Tenant } from "../support/api.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { makeBatch, readAll, type SentBatch, sendBatch } from "./load.ts";
import { Random } from "./random.ts";
import { problems, retryProblems } from "./verify.ts";

/** Connections that send at once. */
const SENDERS = 16;
const TENANTS = 2;

export interface Figures {
  rounds: number;
  /** Batches sent; acknowledged before a kill; stored without an answer; never stored before their retry. */
  sent: number;
  acknowledged: number;
  storedUnanswered: number;
  lost: number;
  entries: number;
}

export interface FaultOptions {
  rounds: number;
  seed: number;
  report?: (line: string) => void;
}

/**
 * Kills the whole server with -9 under load, starts it again and checks every promise of ingest, round after round on
 * the same data. The seed fixes the batches and when to kill, in acknowledged batches; not what the machine does with it.
 * @throws Error with the problems found
 */
export async function runFaults({ rounds, seed, report = () => {} }: FaultOptions): Promise<Figures> {
  const server = await startServer();
  try {
    const run = new FaultRun(
      server,
      new Random(seed),
      await Promise.all(Array.from({ length: TENANTS }, () => tenantOf(server.url))),
    );
    for (let round = 1; round <= rounds; round++) report(await run.round(round));
    return run.figures;
  } finally {
    await server.stop();
  }
}

async function tenantOf(url: string): Promise<Tenant> {
  const tenant = await createTenant(url);
  const path = `/workspaces/${tenant.account.workspaceId}/rate-limits`;
  const body = { default: { limit: 1_000_000, windowSeconds: 60 } };
  const { status } = await call(url, path, { ...asUser(tenant.account), method: "PUT", body });
  if (status !== 200) throw new Error(`The limits could not be set: ${status}`);
  return tenant;
}

class FaultRun {
  readonly figures: Figures = { rounds: 0, sent: 0, acknowledged: 0, storedUnanswered: 0, lost: 0, entries: 0 };
  readonly #server: TestServer;
  readonly #random: Random;
  readonly #tenants: readonly Tenant[];
  readonly #batches: SentBatch[] = [];

  constructor(server: TestServer, random: Random, tenants: readonly Tenant[]) {
    this.#server = server;
    this.#random = random;
    this.#tenants = tenants;
  }

  async round(number: number): Promise<string> {
    const batches = await this.#loadAndKill(number);
    this.#batches.push(...batches);
    await this.#server.restart();
    const stored = await this.#check(`round ${number}, after the restart`);
    const answered = batches.filter(({ receipt }) => receipt !== null).length;
    const unanswered = batches.filter((batch) => batch.receipt === null && stored.has(batch)).length;
    // A second kill while the retries are under way must not matter either.
    if (this.#random.oneIn(4)) {
      await this.#retryAndKill(batches);
      await this.#server.restart();
      for (const batch of await this.#check(`round ${number}, after the second restart`)) stored.add(batch);
    }
    await this.#retryAll(batches, stored, number);
    await this.#check(`round ${number}, after the retries`);
    const { figures } = this;
    figures.rounds++;
    figures.sent += batches.length;
    figures.acknowledged += answered;
    figures.storedUnanswered += unanswered;
    figures.lost += batches.length - answered - unanswered;
    figures.entries = this.#batches.reduce((sum, { messages }) => sum + messages.length, 0);
    return `round ${number}: ${batches.length} batches sent, ${answered} acknowledged, ${unanswered} stored without an answer; ${figures.entries} entries found, each once`;
  }

  /** Sends until enough batches are acknowledged, and kills the server while the others are on their way. */
  async #loadAndKill(round: number): Promise<SentBatch[]> {
    const killAfter = this.#random.int(1, 120);
    // Right after an answer the others of its group are answered too: a moment later the next group is half way.
    const delayMs = this.#random.int(0, 30);
    const batches: SentBatch[] = [];
    let acknowledged = 0;
    let isDown = false;
    let killed: Promise<void> | null = null;
    const sender = async () => {
      while (!isDown) {
        const tenant = this.#tenants[batches.length % this.#tenants.length] ?? this.#tenants[0];
        if (!tenant) throw new Error("There is no tenant.");
        const batch = makeBatch(this.#random, tenant, `r${round}.${batches.length}`);
        batches.push(batch);
        // Some clients are impatient and send the same batch twice at once.
        const impatient = this.#random.oneIn(6);
        const results = await Promise.allSettled(
          Array.from({ length: impatient ? 2 : 1 }, () => sendBatch(this.#server.url, batch)),
        );
        for (const result of results) {
          if (result.status === "fulfilled") batch.receipt = { ...result.value, duplicate: false };
          else isDown = this.#downOr(result.reason, killed !== null);
        }
        if (batch.receipt && ++acknowledged >= killAfter)
          killed ??= setTimeout(delayMs).then(() => this.#server.kill9());
      }
    };
    await Promise.all(Array.from({ length: SENDERS }, sender));
    await killed;
    return batches;
  }

  /** After the kill a broken connection is what was asked for; before it, it is a fault. */
  #downOr(reason: unknown, isKilled: boolean): true {
    if (!isKilled) throw reason;
    return true;
  }

  async #retryAndKill(batches: readonly SentBatch[]): Promise<void> {
    const killAfter = this.#random.int(1, batches.length);
    let done = 0;
    let killed: Promise<void> | null = null;
    await Promise.all(
      batches.map(async (batch) => {
        try {
          batch.receipt = { ...(await sendBatch(this.#server.url, batch)), duplicate: false };
        } catch (error) {
          if (killed === null) throw error;
        }
        if (++done >= killAfter) killed ??= this.#server.kill9();
      }),
    );
    await killed;
  }

  /** Sends every batch of a round again, twice: the first time may store it, the second never does. */
  async #retryAll(batches: readonly SentBatch[], stored: ReadonlySet<SentBatch>, round: number): Promise<void> {
    const wrong: string[] = [];
    for (const again of [false, true]) {
      await Promise.all(
        batches.map(async (batch) => {
          const receipt = await sendBatch(this.#server.url, batch);
          wrong.push(...retryProblems(batch, receipt, again || stored.has(batch)));
          batch.receipt = { ...receipt, duplicate: false };
        }),
      );
    }
    if (wrong.length > 0) throw new Error(`Round ${round}, retries: ${wrong.slice(0, 10).join("; ")}`);
  }

  /** Reads everything and checks it. @returns the batches that are there */
  async #check(when: string): Promise<Set<SentBatch>> {
    const stored = new Set<SentBatch>();
    for (const tenant of this.#tenants) {
      const found = await readAll(this.#server.url, tenant);
      const batches = this.#batches.filter((batch) => batch.tenant === tenant);
      const wrong = problems(found, batches);
      if (wrong.length > 0) throw new Error(`${when}: ${wrong.slice(0, 10).join("; ")}`);
      const messages = new Set(found.map(({ message }) => message));
      for (const batch of batches) if (messages.has(batch.messages[0] ?? "")) stored.add(batch);
    }
    return stored;
  }
}
