import type { BenchOptions } from "../options.ts";
import { cpuMicros } from "../process-stats.ts";
import type { BenchServer, Workshop } from "../servers.ts";
import { median } from "../stats.ts";
import type { Comparison, Goal } from "../targets/comparison.ts";
import { Facts } from "../targets/facts.ts";
import { type NeedleReads, needleReads } from "../targets/needle-reads.ts";
import { apiQuestions, languageQuestions, SUGGESTED } from "../targets/questions.ts";
import { IncompleteAnswer, ServiceClient, WrongAnswer } from "../targets/service.ts";
import { dayRecipe, States, type TargetState } from "../targets/state.ts";
import { VictoriaLogs } from "../targets/victorialogs.ts";

/** Each question is repeated this often, or until its time is up, but at least the minimum number of times. */
const MAX_RUNS = 15;
const LEAST_RUNS = 5;
const SECONDS_A_QUESTION = 4;

/** Milliseconds within which completions are suggested. */
const SUGGEST_MS = 100;

/** Figures of one server. */
export interface Timing {
  medianMs: number;
  /** CPU time of its process for a run; `null` without `/proc`. */
  cpuMs: number | null;
}

export interface TargetRow {
  name: string;
  runs: number;
  service: Timing;
  /** `null` without the peer, and where it has no such question. */
  peer: Timing | null;
  goal: Goal | null;
  /** Whether work was limited before all entries were read. */
  isIncomplete: boolean;
  /** `null` if every answer was right. */
  wrong: string | null;
  grows: Comparison["grows"];
}

/** Figures at one number of entries. */
export interface TargetsAt {
  entries: number;
  /** Commit of the sources that stored them, which is an earlier one if the state was kept. */
  storedBy: string | null;
  /** Entries of the recent tier. */
  recent: number;
  /** Bytes of an entry of the cold tier, merged: file, filter and D1. */
  bytes: { file: number; filter: number; catalog: number; segments: number };
  peer: { version: string; bytesPerEntry: number } | null;
  /** CPU microseconds of an entry. */
  cpu: TargetState["cpu"];
  rows: TargetRow[];
}

export interface TargetsResults {
  main: TargetsAt;
  /** By rising number of entries; empty unless growth was asked for. */
  growth: TargetsAt[];
  needles: NeedleReads[];
  /** What the service does not have yet. */
  missing: string[];
}

/** The targets of the cold tier and of the query language, with every answer compared with what was sent. */
export async function benchTargets(
  workshop: Workshop,
  options: BenchOptions,
  report: (what: string, figure: string) => void,
): Promise<TargetsResults> {
  const states = new States(workshop, options.state, (line) => report("storing", line));
  const missing: string[] = [];
  const at = async (entries: number) => measureAt(states, entries, options.victorialogs, report, missing);
  const main = await at(options.targetEntries);
  const growth: TargetsAt[] = [];
  for (const entries of options.growth) {
    growth.push(entries === options.targetEntries ? main : await at(entries));
  }
  const needles = await needleReads(states, options.targetEntries, options.needleFiles, report);
  return { main, growth, needles, missing: [...new Set(missing)] };
}

async function measureAt(
  states: States,
  entries: number,
  binary: string | null,
  report: (what: string, figure: string) => void,
  missing: string[],
): Promise<TargetsAt> {
  const recipe = dayRecipe(entries);
  const state = await states.get(recipe);
  const peer =
    binary === null ? null : await VictoriaLogs.start(binary, states.beside(recipe, "victorialogs"), state.data);
  const server = await states.serve(recipe);
  const client = new ServiceClient(server.url, state.key);
  const facts = new Facts(state.data);
  const rows: TargetRow[] = [];
  const take = (row: TargetRow) => {
    rows.push(row);
    const beside = row.peer === null ? "" : ` (VictoriaLogs ${row.peer.medianMs.toFixed(1)})`;
    report(`${entries} entries, ${row.name}`, `${row.wrong ?? `${row.service.medianMs.toFixed(1)} ms`}${beside}`);
  };
  // Before the first request: the expected answers take seconds of this thread, in which servers close idle connections.
  const [api, language] = [apiQuestions(facts), languageQuestions(facts)];
  for (const question of api) take(await compare(question, client, server, peer));
  if (await client.has("/logger/search")) {
    for (const question of language) take(await compare(question, client, server, peer));
  } else {
    missing.push("POST /logger/search");
  }
  if (await client.has("/logger/search/suggest")) {
    for (const query of SUGGESTED) take(await suggest(query, client, server));
  } else {
    missing.push("POST /logger/search/suggest");
  }
  await server.stop();
  await peer?.stop();
  const { stored } = state;
  const perEntry = (bytes: number) => bytes / stored.entries;
  return {
    entries,
    storedBy: state.commit,
    recent: entries - stored.entries,
    bytes: {
      file: perEntry(stored.fileBytes),
      filter: perEntry(stored.filterBytes),
      catalog: perEntry(stored.catalogBytes),
      segments: stored.segments,
    },
    peer: peer && { version: peer.version, bytesPerEntry: peer.bytesPerEntry },
    cpu: state.cpu,
    rows,
  };
}

async function compare(
  question: Comparison,
  client: ServiceClient,
  server: BenchServer,
  peer: VictoriaLogs | null,
): Promise<TargetRow> {
  const { name, grows, goal } = question;
  const own = await timed(server.pid, () => client.ask(question.request), question.check);
  const asked = question.peer;
  const other =
    peer === null || asked === null
      ? null
      : await timed(peer.pid, () => peer.ask(asked.query, asked.from, asked.to, asked.limit), asked.check);
  const wrong = own.wrong ?? (other?.wrong == null ? null : `VictoriaLogs: ${other.wrong}`);
  const { runs, timing, isIncomplete } = own;
  return { name, runs, service: timing, peer: other?.timing ?? null, goal, isIncomplete, wrong, grows };
}

async function suggest(query: string, client: ServiceClient, server: BenchServer): Promise<TargetRow> {
  const { runs, timing, wrong } = await timed(
    server.pid,
    () => client.suggest(query),
    () => null,
  );
  const goal = { atMost: SUGGEST_MS, timesPeer: null };
  return {
    name: `suggestions for ${query}`,
    runs,
    service: timing,
    peer: null,
    goal,
    isIncomplete: false,
    wrong,
    grows: "logarithm",
  };
}

interface Timed {
  runs: number;
  timing: Timing;
  isIncomplete: boolean;
  wrong: string | null;
}

/** Repeats one request. @param check returns what is wrong with its answer */
async function timed<T>(pid: number, ask: () => Promise<T>, check: (answer: T) => string | null): Promise<Timed> {
  let wrong: string | null = null;
  let isIncomplete = false;
  const once = async (): Promise<number> => {
    const startedAt = performance.now();
    try {
      const answer = await ask();
      const tookMs = performance.now() - startedAt;
      wrong ??= check(answer);
      return tookMs;
    } catch (error) {
      if (error instanceof IncompleteAnswer) isIncomplete = true;
      else if (error instanceof WrongAnswer) wrong ??= error.message;
      else throw error;
      return performance.now() - startedAt;
    }
  };
  // Without measurement, because the first request reads from disk and compiles.
  await once();
  const times: number[] = [];
  const before = cpuMicros(pid);
  const until = performance.now() + SECONDS_A_QUESTION * 1000;
  while (times.length < LEAST_RUNS || (times.length < MAX_RUNS && performance.now() < until)) {
    times.push(await once());
  }
  const after = cpuMicros(pid);
  const cpuMs = before === null || after === null ? null : (after - before) / 1000 / times.length;
  return { runs: times.length, timing: { medianMs: median(times), cpuMs }, isIncomplete, wrong };
}
