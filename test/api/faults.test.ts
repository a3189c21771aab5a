import { expect, test } from "vitest";
import { runFaults } from "../faults/faults.ts";

const SEED = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 30));

test(`kill -9, failing D1, and killed objects and writers lose, duplicate and reorder nothing (seed ${SEED})`, async () => {
  const needed = ["merges merged", "calls that staged batches"];
  const figures = await runFaults({ rounds: 3, seed: SEED, needed });
  expect(figures.rounds).toBeGreaterThanOrEqual(3);
  expect(figures.entries).toBeGreaterThan(500);
  for (const name of needed) expect(figures[name], name).toBeGreaterThan(0);
}, 600_000);
