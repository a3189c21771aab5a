import type { LoadGenerator } from "../load/generator.ts";
import type { LoadResult, LoadRun } from "../load/protocol.ts";
import { cpuMicros as cpuMicrosOf } from "../process-stats.ts";
import { median, sum } from "../stats.ts";

/** Milliseconds of load before each measurement, in which the new object's caches fill and the code is compiled. */
const WARM_MS = 500;

/** Cores used by other processes above which a round is noise and may be repeated. */
const NOISY_CORES = 0.25;

/**
 * Milliseconds between checks whether a server is at rest, the CPU it may use in between, and the maximum number of
 * checks.
 */
const REST_LOOK_MS = 500;
const REST_CPU_MICROS = 20_000;
const REST_LOOKS = 120;

/** One of the subjects that are measured in turn. */
export interface Contender {
  name: string;
  /** Creates a new instance for one run, which begins with an empty database. */
  prepare(): Promise<PreparedRun>;
}

export interface PreparedRun {
  load: Pick<
    LoadRun,
    "origin" | "path" | "headers" | "idempotent" | "batch" | "format" | "serverPid" | "expectedStatus"
  >;
  /** Number of stored requests; `null` if nothing is stored. */
  stored: (() => Promise<number>) | null;
  end(): Promise<void>;
}

/** Medians over the rounds; sums for counts. */
export interface Figures {
  requestsPerSecond: number;
  /** CPU time of the server process a request, in microseconds; `null` if it cannot be read. */
  cpuMicrosPerRequest: number | null;
  /** From the first request, including the warm-up, until the server was at rest again. */
  allCpuMicrosPerRequest: number | null;
  p50Ms: number;
  p99Ms: number;
  /** Cores that the load generator used; near 1, the generator is the bottleneck. */
  clientCores: number;
  /** Cores that everything else on the machine used; more than a few hundredths is noise. `null` if unknown. */
  otherCores: number | null;
  /** Requests with the expected response in total, including the warm-up, and how many of them were stored. */
  acknowledged: number;
  stored: number | null;
  failed: number;
  firstFailure: string | null;
}

export interface Comparison {
  figures: Figures[];
  /** Requests per second of each contender relative to the first: the median of the rounds' ratios. */
  ratios: number[];
  /** CPU time of a request relative to the first contender; `null` if it cannot be read. */
  cpuRatios: (number | null)[];
}

/** One run of each contender, in the order of the contenders. */
type Round = readonly Outcome[];

interface Outcome extends LoadResult {
  /** CPU time from the first request until the server was at rest again. */
  allCpuMicros: number | null;
  stored: number | null;
}

/**
 * Measures contenders in turn, never two at a time, for the given number of rounds. Each round begins with another
 * contender, so that none always runs first; ratios are taken within a round, where noise affects all alike. Rounds in
 * which other processes used the machine are repeated, at most half the number of rounds; the quietest ones count.
 * Counts and failures are summed over all rounds.
 */
export async function compare(
  generator: LoadGenerator,
  contenders: readonly Contender[],
  { rounds: wanted, seconds, connections }: { rounds: number; seconds: number; connections: number },
): Promise<Comparison> {
  const rounds: Round[] = [];
  const most = wanted + Math.floor(wanted / 2);
  while (rounds.length < wanted || (rounds.length < most && quietRounds(rounds) < wanted)) {
    const first = rounds.length % contenders.length;
    const turns = contenders.map((_, turn) => (first + turn) % contenders.length);
    const round: Outcome[] = [];
    for (const at of turns) {
      const contender = contenders[at];
      if (contender) round[at] = await runOnce(generator, contender, connections, seconds);
    }
    rounds.push(round);
  }
  const counted = rounds.toSorted((a, b) => noise(a) - noise(b)).slice(0, wanted);
  return {
    figures: contenders.map((_, at) => figuresOf(ofContender(counted, at), ofContender(rounds, at))),
    ratios: contenders.map((_, at) => median(counted.map((round) => rate(round[at]) / rate(round[0])))),
    cpuRatios: contenders.map((_, at) => medianOrNull(counted.map((round) => cpuRatio(round[at], round[0])))),
  };
}

function ofContender(rounds: readonly Round[], at: number): Outcome[] {
  return rounds.flatMap((round) => round[at] ?? []);
}

function quietRounds(rounds: readonly Round[]): number {
  return rounds.filter((round) => noise(round) <= NOISY_CORES).length;
}

/** Cores that other processes used in a round's noisiest run; 0 if unknown. */
function noise(round: Round): number {
  return Math.max(...round.map((outcome) => otherCores(outcome) ?? 0));
}

async function runOnce(
  generator: LoadGenerator,
  contender: Contender,
  connections: number,
  seconds: number,
): Promise<Outcome> {
  const prepared = await contender.prepare();
  const measureMs = seconds * 1000;
  const { serverPid } = prepared.load;
  const before = cpuMicrosOf(serverPid);
  const result = await generator.run({ ...prepared.load, connections, warmMs: WARM_MS, measureMs });
  const after = await atRest(serverPid);
  const allCpuMicros = before === null || after === null ? null : after - before;
  const stored = prepared.stored === null ? null : await prepared.stored();
  await prepared.end();
  return { ...result, stored, allCpuMicros };
}

/**
 * Waits until a server has completed its background work, which would otherwise affect the next run.
 * @returns its CPU time so far
 */
async function atRest(pid: number): Promise<number | null> {
  let last = cpuMicrosOf(pid);
  for (let look = 0; last !== null && look < REST_LOOKS; look++) {
    await new Promise((resolve) => setTimeout(resolve, REST_LOOK_MS));
    const next = cpuMicrosOf(pid);
    if (next === null || next - last <= REST_CPU_MICROS) return next;
    last = next;
  }
  return last;
}

/** @param counted the runs for medians; `all` is for sums of counts and failures */
function figuresOf(counted: readonly Outcome[], all: readonly Outcome[]): Figures {
  const firstFailed = all.find(({ firstFailure }) => firstFailure !== null);
  return {
    requestsPerSecond: median(counted.map(rate)),
    cpuMicrosPerRequest: medianOrNull(counted.map(cpuMicros)),
    allCpuMicrosPerRequest: medianOrNull(counted.map(allCpuMicros)),
    p50Ms: median(counted.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(counted.map(({ p99Ms }) => p99Ms)),
    clientCores: median(counted.map(({ clientCpuMicros, seconds }) => clientCpuMicros / 1e6 / seconds)),
    otherCores: medianOrNull(counted.map(otherCores)),
    acknowledged: sum(all.map(({ acknowledged }) => acknowledged)),
    stored: all.some(({ stored }) => stored === null) ? null : sum(all.map(({ stored }) => stored ?? 0)),
    failed: sum(all.map(({ failed }) => failed)),
    firstFailure: firstFailed?.firstFailure ?? null,
  };
}

function medianOrNull(values: readonly (number | null)[]): number | null {
  return values.includes(null) ? null : median(values.map(Number));
}

function otherCores({ otherCpuMicros, seconds }: LoadResult): number | null {
  return otherCpuMicros === null ? null : otherCpuMicros / 1e6 / seconds;
}

function cpuMicros({ serverCpuMicros, requests }: LoadResult): number | null {
  return serverCpuMicros === null ? null : serverCpuMicros / requests;
}

function allCpuMicros({ allCpuMicros: all, acknowledged }: Outcome): number | null {
  return all === null ? null : all / acknowledged;
}

function cpuRatio(outcome: LoadResult | undefined, first: LoadResult | undefined): number | null {
  const [own, others] = [outcome, first].map((one) => (one ? cpuMicros(one) : null));
  return typeof own === "number" && typeof others === "number" ? own / others : null;
}

function rate(outcome: LoadResult | undefined): number {
  return outcome ? outcome.requests / outcome.seconds : Number.NaN;
}
