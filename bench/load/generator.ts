import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { LoadCommand, LoadResult, LoadRun, PaceResult, PaceRun, SeedResult, SeedRun } from "./protocol.ts";

/** The load generator, in a separate process; one command at a time. */
export class LoadGenerator {
  readonly #child: ChildProcess;

  constructor() {
    this.#child = fork(path.join(import.meta.dirname, "child.ts"));
  }

  async run(run: Omit<LoadRun, "kind">): Promise<LoadResult> {
    // SAFETY: the child answers a run with its result.
    return (await this.#command({ kind: "run", ...run })) as LoadResult;
  }

  async seed(seed: Omit<SeedRun, "kind">): Promise<SeedResult> {
    // SAFETY: the child answers a seed with its result.
    return (await this.#command({ kind: "seed", ...seed })) as SeedResult;
  }

  async pace(run: Omit<PaceRun, "kind">): Promise<PaceResult> {
    // SAFETY: the child answers a paced run with its result.
    return (await this.#command({ kind: "pace", ...run })) as PaceResult;
  }

  stop(): void {
    this.#child.disconnect();
  }

  async #command(command: LoadCommand): Promise<unknown> {
    const over = new AbortController();
    const { signal } = over;
    try {
      this.#child.send(command);
      return await Promise.race([
        once(this.#child, "message", { signal }).then(([answer]) => answer),
        once(this.#child, "exit", { signal }).then(() => {
          throw new Error("The load generator ended.");
        }),
      ]);
    } finally {
      over.abort();
    }
  }
}
