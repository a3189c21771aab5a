import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";

const EXAMPLES = new URL("../examples/", import.meta.url).pathname;

/** Sources by the name that an application imports. */
const ENTRIES = {
  "#runtime": "runtime/browser.ts",
  "#names": "names.ts",
  "taffrail/hono": "adapters/hono.ts",
  "taffrail/express": "adapters/express.ts",
  "taffrail/node": "node/index.ts",
  "taffrail/browser": "browser/index.ts",
  "taffrail/proxy": "proxy/index.ts",
  taffrail: "index.ts",
};

test("the examples compile", async () => {
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [tsc, "--noEmit", "-p", EXAMPLES]).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  expect(stdout + stderr).toBe("");
}, 120_000);

test.each([
  ["hono-workers/index.ts", "neutral", ["workerd"]],
  ["express/server.ts", "node", ["node"]],
  ["nuxt/nuxt.config.ts", "node", ["node"]],
  ["nuxt/server/api/orders.get.ts", "node", ["node"]],
  ["browser/page.ts", "browser", ["browser"]],
  ["browser/server.ts", "node", ["node"]],
] as const)("the example %s builds for %s", async (file, platform, conditions) => {
  const { errors, warnings, outputFiles } = await build({
    entryPoints: [EXAMPLES + file],
    tsconfig: `${EXAMPLES}tsconfig.json`,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    platform,
    conditions: [...conditions],
    packages: platform === "node" ? "external" : "bundle",
    external: ["node:*"],
    alias: Object.fromEntries(
      Object.entries(ENTRIES).map(([name, source]) => [name, new URL(`../src/${source}`, import.meta.url).pathname]),
    ),
  });
  expect([...errors, ...warnings]).toEqual([]);
  expect(outputFiles[0]?.contents.length).toBeGreaterThan(50);
});
