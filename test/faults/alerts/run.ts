/**
 * `npm run test:alerts -- --commits N --seed S --before REVISION`: fifty alert rules under kills, repeated alarms and changes of the
 * version.
 */
import { parseArgs } from "node:util";
import { runAlertFaults } from "./harness.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { commits: { ...text, default: "50000" }, seed: text, before: text } });
const commits = Number(values.commits);
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 30));
if (!Number.isInteger(commits) || commits < 1 || !Number.isInteger(seed)) {
  console.error("--commits and --seed must be whole numbers.");
  process.exit(2);
}

// The server is a separate process group and would outlive a signal, so signals exit the process instead.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

console.log(`${commits} commits from seed ${seed}`);
const report = (line: string) => console.log(`${Math.round(performance.now() / 1000)} s: ${line}`);
try {
  const before = values.before ?? null;
  const figures = await runAlertFaults({ commits, seed, before, report });
  console.log(
    Object.entries(figures)
      .map(([name, count]) => `${count.toLocaleString("en")} ${name}`)
      .join(", "),
  );
  console.log("0 missed, 0 doubled, 0 wrong; every notification arrived, each with one id.");
  process.exit(0);
} catch (error) {
  console.error(`FAILED. ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}
