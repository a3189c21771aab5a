import { parseArgs } from "node:util";
import { encodeBody, type RecentBatch } from "../src/logs/batch.ts";
import { BatchMatcher } from "../src/logs/query/batch-matcher.ts";
import { ALONE_UNITS, QUERY_BUDGET, UNIT_NS, WorkMeter } from "../src/logs/query/budget.ts";
import { piecesOf } from "../src/logs/query/lines.ts";
import { runQuery } from "../src/logs/query/run-query.ts";
import { QueryBody } from "../src/logs/query/schema.ts";
import { GENES, type Genome, mutated, randomGenome } from "./worst-query-genes.ts";

/**
 * `npm run bench:worst-query`: searches for the costliest query and stored lines by hill climbing: thousands of
 * variants of filters and bodies, each the best so far with a few changes, from a seed. There are two objectives: the
 * real time of a counted unit, because requests are bounded by units, and the longest time between two pauses. Prints
 * the worst of each with the time of a whole request, in milliseconds of this machine. `-- --tries 5000 --seed 7`
 * change the defaults.
 */

const { values } = parseArgs({
  options: { tries: { type: "string", default: "3000" }, seed: { type: "string", default: "1" } },
});
const PROJECT = "proj_00000000000a";
const BODY_BYTES = 384 * 1024;
/** The largest batch, and the number of such batches that a whole request scans. */
const BATCH_BYTES = 5 * 1024 * 1024;
const BATCHES = 200;

const random = seeded(Number(values.seed));
for (const goal of ["nanoseconds a unit", "milliseconds between pauses"] as const) {
  let best = randomGenome(random);
  let score = scoreOf(best, goal);
  const perGoal = Math.ceil(Number(values.tries) / 2);
  for (let attempt = 0, stale = 0; attempt < perGoal; attempt++) {
    // Without progress: restarts from another random variant.
    const next = stale > 150 ? randomGenome(random) : mutated(best, random);
    let found = scoreOf(next, goal);
    // Measures again, because a pause of the machine makes any variant look bad once.
    if (found > score) found = Math.min(found, scoreOf(next, goal), scoreOf(next, goal));
    stale = found > score ? 0 : stale + 1;
    if (found <= score) continue;
    [best, score] = [next, found];
  }
  console.log(
    `\nMost ${goal}: ${score.toFixed(2)}${goal === "nanoseconds a unit" ? ` (a unit counts as ${UNIT_NS})` : ""}`,
  );
  console.log(`  ${JSON.stringify(best).slice(0, 1500)}`);
  for (const order of ["desc", "asc"] as const) await wholeRequest(best, order);
}

function scoreOf(genome: Genome, goal: string): number {
  const body = GENES.bodyOf(genome, BODY_BYTES);
  const meter = new WorkMeter(ALONE_UNITS);
  const matcher = new BatchMatcher(QueryBody.parse({ filters: GENES.filtersOf(genome) }).filter, meter);
  let longest = 0;
  const startedAt = performance.now();
  let since = startedAt;
  const nothing = () => undefined;
  for (const _ of matcher.steps(piecesOf(body), () => true, nothing, nothing)) {
    longest = Math.max(longest, performance.now() - since);
    meter.paused(ALONE_UNITS);
    since = performance.now();
  }
  const endedAt = performance.now();
  longest = Math.max(longest, endedAt - since);
  return goal === "nanoseconds a unit" ? ((endedAt - startedAt) * 1e6) / meter.done : longest;
}

/** A page over a gigabyte of such lines, as the router runs it. */
async function wholeRequest(genome: Genome, order: "asc" | "desc"): Promise<void> {
  const raw = GENES.bodyOf(genome, BATCH_BYTES);
  const body = encodeBody(raw);
  const count = raw.toString("latin1").split("\n").length;
  const batch = (commit: number): RecentBatch => {
    const time = GENES.time - commit;
    const place = { commit, projectId: PROJECT, firstSeq: (BATCHES - commit) * count + 1, count };
    return { ...place, minTimestamp: time, maxTimestamp: time, receivedAt: GENES.time, ...body };
  };
  const batches = Array.from({ length: BATCHES }, (_, index) => batch(order === "desc" ? index : BATCHES - 1 - index));
  const page = { asOf: BATCHES, lastCommit: BATCHES, scope: PROJECT, flushed: [], oldest: 0, batches, next: null };
  const source = {
    workspaceId: "ws_000000000001",
    recent: async () => page,
    cold: { findSegments: unused, readBodies: unused, readFiles: unused, segmentsBySeq: unused },
    report: unused,
  };
  const pagination = { limit: 1000, includeTotal: genome.includeTotal, offset: genome.includeTotal ? 10_000 : 0 };
  const query = QueryBody.parse({ filters: GENES.filtersOf(genome), order, pagination });
  const startedAt = performance.now();
  const result = await runQuery(source, query, () => 0);
  const tookMs = performance.now() - startedAt;
  if (!result.ok) throw new Error(result.reason);
  const countedMs = (result.work * UNIT_NS) / 1e6;
  const bound = (QUERY_BUDGET.work * UNIT_NS) / 1e6;
  console.log(
    `  a request, ${order}: ${tookMs.toFixed(0)} ms, counted ${countedMs.toFixed(0)} ms of ${bound.toFixed(0)}, ` +
      `${result.page.stats.scanned} of ${BATCHES * count} entries, complete ${result.page.complete}`,
  );
}

function unused(): never {
  throw new Error("Nothing is stored in the cold tier.");
}

/** mulberry32: the same sequence for the same seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
