import { expect, test } from "vitest";
import { runFaults } from "../faults/faults.ts";

const SEED = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 30));

test(`kill -9, failing D1, and killed objects and writers lose, duplicate and reorder nothing (seed ${SEED})`, async () => {
  const figures = await runFaults({ rounds: 3, seed: SEED });
  expect(figures.rounds).toBe(3);
  expect(figures.entries).toBeGreaterThan(500);
  expect(figures["merges merged"]).toBeGreaterThan(0);
  expect(figures["calls that staged batches"]).toBeGreaterThan(0);
}, 300_000);
