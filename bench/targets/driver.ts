import { z } from "zod";
import { cpuMicros } from "../process-stats.ts";
import type { BenchServer } from "../servers.ts";

export const HOUR_MS = 60 * 60 * 1000;
export const MINUTE_MS = 60 * 1000;
const MAX_STEPS = 10_000;

/** The cold tier of a workspace. */
export const storedSchema = z.object({
  segments: z.int(),
  entries: z.int(),
  replaced: z.int(),
  files: z.int(),
  fileBytes: z.number(),
  filterBytes: z.number(),
});

const waitingSchema = z.object({
  now: z.number(),
  recent: z.int(),
  flushed: z.int(),
  isFlushDue: z.boolean(),
  compactionAt: z.number().nullable(),
});

/** Runs the alarms of a workspace behind `bench/workers/driven.ts`, and moves its clock. */
export class Driver {
  readonly #server: BenchServer;
  readonly #workspaceId: string;

  constructor(server: BenchServer, workspaceId: string) {
    this.#server = server;
    this.#workspaceId = workspaceId;
  }

  /** CPU microseconds of the service so far; NaN without `/proc`. */
  cpu(): number {
    return cpuMicros(this.#server.pid) ?? Number.NaN;
  }

  async #get(action: string, advanceMs = 0): Promise<unknown> {
    const url = `${this.#server.url}/bench/${this.#workspaceId}/${action}`;
    const answer = await fetch(url, { headers: { "X-Bench-Advance": String(advanceMs) } });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${action} was answered ${answer.status}: ${text}`);
    return JSON.parse(text);
  }

  async waiting(advanceMs = 0) {
    return waitingSchema.parse(await this.#get("waiting", advanceMs));
  }

  async stored() {
    return storedSchema.parse(await this.#get("bytes"));
  }

  async #step(advanceMs = 0) {
    return waitingSchema.parse(await this.#get("step", advanceMs));
  }

  /** Flushes everything that is due. */
  async flush(): Promise<void> {
    let { isFlushDue } = await this.waiting();
    for (let step = 0; isFlushDue; step++) {
      if (step === MAX_STEPS) throw new Error("The flush does not end.");
      ({ isFlushDue } = await this.#step());
    }
  }

  /** Merges everything that can be merged. */
  async compact(): Promise<void> {
    let { now, compactionAt } = await this.waiting();
    for (let step = 0; compactionAt !== null; step++) {
      if (step === MAX_STEPS) throw new Error("The compaction does not end.");
      ({ now, compactionAt } = await this.#step(Math.max(0, compactionAt - now)));
    }
  }

  /** Deletes the rows that compactions have replaced. */
  async clean(): Promise<void> {
    // Replaced rows wait for their readers, and cleanup comes once an hour.
    await this.#step(HOUR_MS + MINUTE_MS);
    for (let step = 0; (await this.stored()).replaced > 0; step++) {
      if (step === MAX_STEPS) throw new Error("The cleanup does not end.");
      await this.#step(1000);
    }
  }
}
