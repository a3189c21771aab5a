/** `npm run test:faults -- --rounds N --seed S`: kill -9 under load, round after round. A seed repeats its batches. */
import { parseArgs } from "node:util";
import { runFaults } from "./rounds.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "20" }, seed: { type: "string" } } });
const rounds = Number(values.rounds);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed)) {
  console.error("--rounds and --seed must be whole numbers.");
  process.exit(2);
}

console.log(`${rounds} rounds, seed ${seed}`);
try {
  const figures = await runFaults({ rounds, seed, report: console.log });
  console.log(
    `${figures.rounds} rounds: ${figures.sent} batches sent, ${figures.acknowledged} acknowledged before a kill, ` +
      `${figures.storedUnanswered} stored without an answer, ${figures.lost} stored by their retry alone; ` +
      `${figures.entries} entries, each found exactly once, seq without a hole.`,
  );
  process.exit(0);
} catch (error) {
  console.error(`FAILED with seed ${seed}: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
