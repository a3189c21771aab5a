import { expect, test } from "vitest";
import { runFaults } from "../faults/rounds.ts";

const SEED = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 2 ** 31));

test(`through kill -9 under load every acknowledged entry is found exactly once (seed ${SEED})`, async () => {
  const figures = await runFaults({ rounds: 3, seed: SEED });
  expect(figures.acknowledged).toBeGreaterThan(0);
  expect(figures.entries).toBeGreaterThan(100);
}, 300_000);
