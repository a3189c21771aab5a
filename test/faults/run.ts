/** `npm run test:faults -- --rounds N --seed S`: the service under load with faults of all kinds, round after round. */
import { parseArgs } from "node:util";
import { runFaults, textOf } from "./faults.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { rounds: { ...text, default: "10" }, seed: text, port: text } });
const rounds = Number(values.rounds);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
const port = values.port === undefined ? undefined : Number(values.port);
if (!Number.isInteger(rounds) || rounds < 1 || !Number.isInteger(seed) || (port !== undefined && !(port > 0))) {
  console.error("--rounds, --seed and --port must be whole numbers.");
  process.exit(2);
}

// The server is a separate process group and would outlive a signal, so signals exit the process instead.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

console.log(`${rounds} rounds from seed ${seed} on`);
try {
  const figures = await runFaults({ rounds, seed, port, report: console.log });
  console.log(textOf(figures));
  console.log("0 lost, 0 doubled, 0 out of order.");
  process.exit(0);
} catch (error) {
  console.error(`FAILED. ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
