/** Checks the package before it is published. `--update` accepts the current public types. */
import { checkApi } from "./lib/api.ts";
import { checkTreeShaking } from "./lib/bundle.ts";
import { checkManifest, checkTypes } from "./lib/lint.ts";
import { entryPoints, pack, runModule, SDK } from "./lib/pack.ts";
import { type Budget, checkSize } from "./lib/size.ts";
import { checkConsumerTypes, checkRuntimes } from "./lib/smoke.ts";

const BUDGETS: readonly Budget[] = [
  {
    name: "taffrail in a browser",
    code: 'export { createLogger } from "taffrail"',
    conditions: ["browser"],
    max: 12_288,
  },
  {
    name: "taffrail on Node",
    code: 'export { createLogger } from "taffrail"',
    conditions: ["node"],
    max: 13_600,
  },
  {
    name: "taffrail/browser",
    code: 'export { createLogger } from "taffrail/browser"',
    conditions: ["browser"],
    max: 6420,
  },
  {
    name: "taffrail/query",
    code: 'export { analyze, format, parse, parseFilterText, placeAt, print } from "taffrail/query"',
    conditions: ["browser"],
    max: 8850,
  },
];

runModule("tsdown/dist/run.mjs", [], SDK);
const packed = pack();
const gates: [string, () => string[] | Promise<string[]>][] = [
  ["publint --strict", () => checkManifest(packed)],
  ["are the types wrong", () => checkTypes(packed)],
  ["types of a consumer", () => checkConsumerTypes(packed)],
  ["public API", () => checkApi(process.argv.includes("--update"))],
  [
    "tree shaking",
    () =>
      checkTreeShaking(
        packed,
        entryPoints().map(({ name }) => name),
      ),
  ],
  ["runtimes", () => checkRuntimes(packed)],
  ["size", () => checkSize(packed, BUDGETS)],
];
for (const [name, gate] of gates) {
  const faults = await gate();
  console.log(`${faults.length === 0 ? "ok    " : "FAILED"} ${name}`);
  for (const fault of faults) console.log(`   ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
