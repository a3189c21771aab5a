import { randomUUID } from "node:crypto";
import type { Client } from "undici";
import { busyMicros, cpuMicros } from "../process-stats.ts";
import { percentile } from "../stats.ts";
import { type DoorBody, stamped } from "./door-bodies.ts";
import type { LoadResult, LoadRun } from "./protocol.ts";
import { connect, disconnect, preparedBodies, preparedDoorBodies, send } from "./requests.ts";

/**
 * Failures after which a run ends. Otherwise it would send hundreds of thousands of requests to a server that refuses
 * all.
 */
const GIVE_UP_AFTER = 1000;

/** CPU time used up to a moment by the server, by this process, and by the whole machine. */
interface Mark {
  at: number;
  server: number | null;
  client: number;
  all: number | null;
}

/** One run: counts, times, and the CPU that both sides used between the first and the last measured response. */
export async function drive(run: LoadRun): Promise<LoadResult> {
  return new Drive(run).result();
}

class Drive {
  readonly #run: LoadRun;
  readonly #bodies: readonly (Buffer | null)[];
  readonly #doorBodies: readonly DoorBody[];
  #sent = 0;
  readonly #latencies: number[] = [];
  readonly #measureFrom: number;
  readonly #measureTo: number;
  #begin: Mark | null = null;
  #end: Mark | null = null;
  #acknowledged = 0;
  #failed = 0;
  #firstFailure: string | null = null;

  constructor(run: LoadRun) {
    this.#run = run;
    this.#doorBodies = run.format === undefined ? [] : preparedDoorBodies(run.format, run.batch);
    this.#bodies =
      run.batch === 0
        ? [null]
        : run.format === undefined
          ? preparedBodies(run.batch)
          : this.#doorBodies.map(() => null);
    this.#measureFrom = performance.now() + run.warmMs;
    this.#measureTo = this.#measureFrom + run.measureMs;
  }

  async result(): Promise<LoadResult> {
    const clients = connect(this.#run.origin, this.#run.connections);
    await Promise.all(clients.map((client, number) => this.#connection(client, number)));
    await disconnect(clients);
    const begin = this.#begin ?? this.#mark(this.#measureFrom);
    const end = this.#end ?? this.#mark(this.#measureTo);
    const serverCpuMicros = spent(begin.server, end.server);
    const clientCpuMicros = end.client - begin.client;
    const all = spent(begin.all, end.all);
    return {
      requests: this.#latencies.length,
      seconds: (end.at - begin.at) / 1000,
      serverCpuMicros,
      clientCpuMicros,
      // At least 0, because ticks of 10 ms are read at different moments.
      otherCpuMicros: all === null ? null : Math.max(0, all - (serverCpuMicros ?? 0) - clientCpuMicros),
      p50Ms: percentile(this.#latencies, 0.5),
      p99Ms: percentile(this.#latencies, 0.99),
      acknowledged: this.#acknowledged,
      failed: this.#failed,
      firstFailure: this.#firstFailure,
    };
  }

  async #connection(client: Client, number: number): Promise<void> {
    const { path, headers, idempotent, expectedStatus } = this.#run;
    // Connections start far apart in the bodies, so that a body is never sent twice at the same time.
    let next = Math.floor((number * this.#bodies.length) / this.#run.connections);
    for (let now = performance.now(); now < this.#measureTo && this.#failed < GIVE_UP_AFTER; ) {
      const body = this.#body(next++ % this.#bodies.length);
      const own = idempotent ? { ...headers, "idempotency-key": randomUUID() } : headers;
      const failure = await send(client, { path, headers: own, body, expectedStatus });
      const sentAt = now;
      now = performance.now();
      this.#note(failure, now, now - sentAt);
    }
  }

  #body(at: number): Buffer | null {
    const { format } = this.#run;
    const door = this.#doorBodies[at];
    if (format === undefined || door === undefined) return this.#bodies[at] ?? null;
    return stamped(door, ++this.#sent);
  }

  #note(failure: string | null, now: number, latency: number): void {
    if (failure === null) this.#acknowledged++;
    else {
      this.#failed++;
      this.#firstFailure ??= failure;
    }
    if (this.#begin === null) {
      // The response that starts the measured time belongs to the time before.
      if (now >= this.#measureFrom) this.#begin = this.#mark(now);
    } else if (this.#end === null) {
      if (failure === null) this.#latencies.push(latency);
      if (now >= this.#measureTo) this.#end = this.#mark(now);
    }
  }

  #mark(at: number): Mark {
    const { user, system } = process.cpuUsage();
    return { at, server: cpuMicros(this.#run.serverPid), client: user + system, all: busyMicros() };
  }
}

function spent(begin: number | null, end: number | null): number | null {
  return begin === null || end === null ? null : end - begin;
}
