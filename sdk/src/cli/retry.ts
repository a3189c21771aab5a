import { Failure } from "./failure.ts";
import { type Io, notice } from "./io.ts";
import { formatWait, sleep } from "./time.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

/** Returns the milliseconds before a retry, after `failures` failed attempts (from 0). Doubles, minus a random part. */
export function backoff(failures: number, random: () => number): number {
  return Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 20), LONGEST_WAIT_MS) * (1 - random() / 2);
}

/** The result of one attempt. `wait`: milliseconds that the service asks to wait. */
export type Attempt<T> = { kind: "done"; value: T } | { kind: "again"; why: string; wait: number | null };

/** Repeats an attempt until it is done. @throws Failure if it takes longer than `forMs`, or the command is stopped */
export async function retryFor<T>(io: Io, forMs: number, attempt: () => Promise<Attempt<T>>): Promise<T> {
  const start = io.now();
  for (let failures = 0; ; failures++) {
    const result = await attempt();
    if (result.kind === "done") return result.value;
    const wait = result.wait ?? backoff(failures, io.random);
    if (io.stop.aborted) throw new Failure(result.why);
    if (io.now() + wait - start > forMs) {
      const asked = result.wait === null ? "" : ` The service asks to wait ${formatWait(result.wait)}.`;
      throw new Failure(`${result.why}${asked}`);
    }
    notice(io, `${result.why} Retrying in ${formatWait(wait)}.`);
    await sleep(wait, io.stop);
  }
}
