import { parseArgs } from "node:util";
import { StartFailure } from "../scripts/lib/failure.ts";
import { areSections } from "./sections.ts";

export const PARTS = [
  "ingest",
  "doors",
  "limits",
  "query",
  "tiers",
  "tail",
  "alerts",
  "rows",
  "memory",
  "targets",
] as const;
export type Part = (typeof PARTS)[number];

export interface BenchOptions {
  parts: readonly Part[];
  /** Measured seconds of one run of the load generator. */
  seconds: number;
  /** Runs of each contender; figures are medians over them. */
  rounds: number;
  /** Entries stored before the queries. */
  entries: number;
  /** Entries stored before the questions of the targets. */
  targetEntries: number;
  /** Numbers of entries at which the same questions are asked, rising. */
  growth: readonly number[];
  /** Unmerged files over which reads of the bucket are counted. */
  needleFiles: number;
  /** Executable of VictoriaLogs to compare with; `null`: none. */
  victorialogs: string | null;
  /** Directory that keeps the stored entries of the targets for the next run; `null`: none. */
  state: string | null;
  /** File for the results; `null`: none. */
  out: string | null;
  /** Whether the results replace the published ones. */
  publish: boolean;
}

export const USAGE = `npm run bench -- [options]
  --seconds N    measured seconds a run (3)
  --rounds N     runs of each contender, medians are shown (3)
  --entries N    entries stored before the queries (1000000; targets: 5000000)
  --only LIST    some of ${PARTS.join(",")}
  --quick        --seconds 1 --rounds 1 --entries 100000
  --growth LIST  targets: the same questions at these millions of entries, such as 1,5,20 (none)
  --victorialogs PATH  doors, targets: executable of a VictoriaLogs to compare with (none)
  --state DIR    targets: keeps the stored entries for runs of the next hours (deleted with the process)
  --out FILE     also writes the results to this file
  --publish      writes the results to bench/results.json and docs/benchmarks.md, as a whole run does; a partial run
                 replaces its sections: alerts, doors, targets, or all the other parts`;

/** @throws StartFailure if an option is not understood */
export function benchOptions(args: readonly string[]): BenchOptions {
  const { values } = parse(args);
  const quick = values.quick === true;
  const parts = values.only === undefined ? PARTS : values.only.split(",").map(partOf);
  const isWhole = parts.length === PARTS.length;
  const isUsual = !quick && values.entries === undefined;
  if (values.publish === true && !(isUsual && areSections(parts))) {
    throw new StartFailure(`--publish needs all parts of a section, without --quick and --entries.\n${USAGE}`);
  }
  return {
    parts,
    seconds: numberOf("seconds", values.seconds, quick ? 1 : 3, 0.2, 600),
    rounds: numberOf("rounds", values.rounds, quick ? 1 : 3, 1, 99),
    // At least 100 batches of each project, so that planted entries are in different batches.
    entries: numberOf("entries", values.entries, quick ? 100_000 : 1_000_000, 10_000, 50_000_000),
    targetEntries: numberOf("entries", values.entries, quick ? 100_000 : 5_000_000, 10_000, 50_000_000),
    growth: growthOf(values.growth),
    needleFiles: quick ? 20 : 1000,
    victorialogs: values.victorialogs ?? null,
    state: values.state ?? null,
    out: values.out ?? null,
    publish: values.publish === true || (isWhole && isUsual),
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        seconds: { type: "string" },
        rounds: { type: "string" },
        entries: { type: "string" },
        only: { type: "string" },
        growth: { type: "string" },
        victorialogs: { type: "string" },
        state: { type: "string" },
        quick: { type: "boolean" },
        out: { type: "string" },
        publish: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new StartFailure(`${error instanceof Error ? error.message : error}\n${USAGE}`);
  }
}

function partOf(name: string): Part {
  const part = PARTS.find((known) => known === name);
  if (part === undefined) throw new StartFailure(`--only: there is no part ${name}.\n${USAGE}`);
  return part;
}

/** @param list millions of entries, separated by commas */
function growthOf(list: string | undefined): number[] {
  const millions = list?.split(",") ?? [];
  return millions.map((text) => numberOf("growth", text, 0, 0.01, 50) * 1_000_000).sort((a, b) => a - b);
}

function numberOf(name: string, text: string | undefined, fallback: number, min: number, max: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isFinite(value) && value >= min && value <= max) return value;
  throw new StartFailure(`--${name} must be a number from ${min} to ${max}.\n${USAGE}`);
}
