import type { LoadGenerator } from "../load/generator.ts";
import type { LoadResult, LoadRun } from "../load/protocol.ts";
import { median, sum } from "../stats.ts";

/** Milliseconds of load before each measured time: the new object's caches fill, the code is compiled. */
const WARM_MS = 500;

/** One of those that are measured in turn. */
export interface Contender {
  name: string;
  /** Makes everything new for one run: each begins with an empty database. */
  prepare(): Promise<PreparedRun>;
}

export interface PreparedRun {
  load: Pick<LoadRun, "origin" | "path" | "headers" | "idempotent" | "batch" | "serverPid" | "expectedStatus">;
  /** Requests' worth that are stored now. Null where nothing is stored. */
  stored: (() => Promise<number>) | null;
  end(): Promise<void>;
}

/** Medians over the rounds; sums where a number must add up. */
export interface Figures {
  requestsPerSecond: number;
  /** CPU time of the server process a request, microseconds. Null where it cannot be read. */
  cpuMicrosPerRequest: number | null;
  p50Ms: number;
  p99Ms: number;
  /** Cores that the load generator kept busy: near 1 it is what limits. */
  clientCores: number;
  /** Cores that everything else on the machine kept busy: more than a few hundredths is noise. Null where unknown. */
  otherCores: number | null;
  /** Requests answered as expected in all, warming up included, and how many of those were found stored. */
  acknowledged: number;
  stored: number | null;
  failed: number;
  firstFailure: string | null;
}

export interface Comparison {
  figures: Figures[];
  /** Requests per second of each contender against the first, the median of the rounds' own ratios. */
  ratios: number[];
}

interface Outcome extends LoadResult {
  stored: number | null;
}

/**
 * Measures contenders in turn, never two at a time, in as many rounds as asked for. Each round begins with another one,
 * so that none has the quiet of being first to itself; ratios are taken within a round, where noise hits all alike.
 */
export async function compare(
  generator: LoadGenerator,
  contenders: readonly Contender[],
  { rounds, seconds, connections }: { rounds: number; seconds: number; connections: number },
): Promise<Comparison> {
  const outcomes: Outcome[][] = contenders.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contenders.length; turn++) {
      const at = (round + turn) % contenders.length;
      const contender = contenders[at];
      if (contender) outcomes[at]?.push(await runOnce(generator, contender, connections, seconds));
    }
  }
  const [first = []] = outcomes;
  return {
    figures: outcomes.map(figuresOf),
    ratios: outcomes.map((own) => median(own.map((outcome, round) => rate(outcome) / rate(first[round])))),
  };
}

async function runOnce(
  generator: LoadGenerator,
  contender: Contender,
  connections: number,
  seconds: number,
): Promise<Outcome> {
  const prepared = await contender.prepare();
  const measureMs = seconds * 1000;
  const result = await generator.run({ ...prepared.load, connections, warmMs: WARM_MS, measureMs });
  const stored = prepared.stored === null ? null : await prepared.stored();
  await prepared.end();
  return { ...result, stored };
}

function figuresOf(outcomes: readonly Outcome[]): Figures {
  const cpu = outcomes.map(({ serverCpuMicros, requests }) =>
    serverCpuMicros === null ? null : serverCpuMicros / requests,
  );
  const others = outcomes.map(({ otherCpuMicros, seconds }) =>
    otherCpuMicros === null ? null : otherCpuMicros / 1e6 / seconds,
  );
  return {
    requestsPerSecond: median(outcomes.map(rate)),
    cpuMicrosPerRequest: cpu.includes(null) ? null : median(cpu.map(Number)),
    p50Ms: median(outcomes.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(outcomes.map(({ p99Ms }) => p99Ms)),
    clientCores: median(outcomes.map(({ clientCpuMicros, seconds }) => clientCpuMicros / 1e6 / seconds)),
    otherCores: others.includes(null) ? null : median(others.map(Number)),
    acknowledged: sum(outcomes.map(({ acknowledged }) => acknowledged)),
    stored: outcomes.some(({ stored }) => stored === null) ? null : sum(outcomes.map(({ stored }) => stored ?? 0)),
    failed: sum(outcomes.map(({ failed }) => failed)),
    firstFailure: outcomes.find(({ firstFailure }) => firstFailure !== null)?.firstFailure ?? null,
  };
}

function rate(outcome: LoadResult | undefined): number {
  return outcome ? outcome.requests / outcome.seconds : Number.NaN;
}
