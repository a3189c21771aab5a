import { expect, test } from "vitest";
import { runFaults } from "../faults/faults.ts";

const SEED = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 30));

test(`through kill -9, failing D1, dying objects and writers, nothing is lost, doubled or out of order (seed ${SEED})`, async () => {
  const figures = await runFaults({ rounds: 3, seed: SEED });
  expect(figures.rounds).toBe(3);
  expect(figures.entries).toBeGreaterThan(500);
}, 300_000);
