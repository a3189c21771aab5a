import { setTimeout } from "node:timers/promises";
import { percentile } from "../stats.ts";
import type { PaceResult, PaceRun } from "./protocol.ts";
import { connect, disconnect, preparedBodies } from "./requests.ts";

/**
 * Sends requests at a fixed rate, whatever the response times. The time of a request that waits for a connection counts
 * from when it was due.
 */
export async function pace(run: PaceRun): Promise<PaceResult> {
  const { batch, perSecond, connections, measureMs, path, headers } = run;
  const bodies = preparedBodies(batch);
  const clients = connect(run.origin, connections);
  const latencies: number[] = [];
  const acks: [seq: number, at: number][] = [];
  let failed = 0;
  let firstFailure: string | null = null;
  let next = 0;
  const count = Math.floor((measureMs / 1000) * perSecond);
  const startedAt = performance.now();
  await Promise.all(
    clients.map(async (client) => {
      while (next < count) {
        const number = next++;
        const dueAt = startedAt + (number * 1000) / perSecond;
        const early = dueAt - performance.now();
        if (early > 0) await setTimeout(early);
        const body = bodies[number % bodies.length] ?? null;
        const answer = await client.request({ path, method: "POST", headers, body });
        const text = await answer.body.text();
        const at = performance.now();
        latencies.push(at - dueAt);
        const seq = /"lastSeq":(\d+)/.exec(text)?.[1];
        if (answer.statusCode === 201 && seq !== undefined) acks.push([Number(seq), performance.timeOrigin + at]);
        else {
          failed++;
          firstFailure ??= `${answer.statusCode} ${text.slice(0, 300)}`;
        }
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await disconnect(clients);
  return { seconds, p50Ms: percentile(latencies, 0.5), p99Ms: percentile(latencies, 0.99), acks, failed, firstFailure };
}
