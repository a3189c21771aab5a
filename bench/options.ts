import { parseArgs } from "node:util";
import { StartFailure } from "../scripts/lib/failure.ts";

export const PARTS = ["ingest", "limits", "query", "tiers", "tail", "rows", "memory"] as const;
export type Part = (typeof PARTS)[number];

export interface BenchOptions {
  parts: readonly Part[];
  /** Measured seconds of one run of the load generator. */
  seconds: number;
  /** Runs of each contender; figures are medians over them. */
  rounds: number;
  /** Entries stored before the queries. */
  entries: number;
  /** File for the results; `null` prints only the table. */
  out: string | null;
}

export const USAGE = `npm run bench -- [options]
  --seconds N    measured seconds a run (3)
  --rounds N     runs of each contender, medians are shown (3)
  --entries N    entries stored before the queries (1000000)
  --only LIST    some of ${PARTS.join(",")}
  --quick        --seconds 1 --rounds 1 --entries 100000
  --out FILE     where the results go; without it a whole run writes bench/results.json, any other none`;

/** @param resultsFile file for the results of a whole run */
export function benchOptions(args: readonly string[], resultsFile: string): BenchOptions {
  const { values } = parse(args);
  const quick = values.quick === true;
  const parts = values.only === undefined ? PARTS : values.only.split(",").map(partOf);
  const isWhole = !quick && parts.length === PARTS.length && values.entries === undefined;
  return {
    parts,
    seconds: numberOf("seconds", values.seconds, quick ? 1 : 3, 0.2, 600),
    rounds: numberOf("rounds", values.rounds, quick ? 1 : 3, 1, 99),
    // At least 100 batches of each project, so that planted entries are in different batches.
    entries: numberOf("entries", values.entries, quick ? 100_000 : 1_000_000, 10_000, 10_000_000),
    out: values.out ?? (isWhole ? resultsFile : null),
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
        quick: { type: "boolean" },
        out: { type: "string" },
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

function numberOf(name: string, text: string | undefined, fallback: number, min: number, max: number): number {
  const value = text === undefined ? fallback : Number(text);
  if (Number.isFinite(value) && value >= min && value <= max) return value;
  throw new StartFailure(`--${name} must be a number from ${min} to ${max}.\n${USAGE}`);
}
