import { globSync, readFileSync } from "node:fs";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import MixedLanes from "./test/support/order.ts";

/** Fixed test secrets of at least 32 bytes, which are obviously not secret. */
const TEST_SETTINGS = {
  JWT_SECRET: "test-jwt-secret-test-jwt-secret-0001",
  REFRESH_PEPPER: "test-pepper-test-pepper-test-pepper-1",
  LOG_LEVEL: "error",
  AUTH_LIMIT: "100000",
};

/** Number of random histories that compare the limits with their model; `npm run test:model` sets more. */
const MODEL_RUNS = process.env.MODEL_RUNS ?? "500";

/** Milliseconds of a test of real processes: three times the longest on a machine that runs nothing else. */
const TIMEOUT = 120_000;

const OBJECTS = "test/objects/**/*.test.ts";
const TEXTS = globSync(OBJECTS).map((file) => ({ file, text: readFileSync(file, "utf8") }));
const namesIps = (text: string) => /CF-Connecting-IP|"ip:/.test(text) && !/\bnew(?:Ip|Network)\(/.test(text);
/** Files that need a runtime each: they replace the clock, or name client IPs, whose objects other files may name, too. */
const ALONE = TEXTS.filter(({ text }) => /use(?:Fake|Real)Timers/.test(text) || namesIps(text)).map(({ file }) => file);
/** Other files that set the clock ahead, by `clock` of `flush/support.ts` or for a few calls. */
const AHEAD = TEXTS.filter(({ file, text }) => {
  return !ALONE.includes(file) && /^import \{[^}]*\bclock\b|spyOn\(Date, "now"\)/m.test(text);
}).map(({ file }) => file);

/** A lane of tests of objects, D1 and the application inside workerd. */
function workerd(
  name: string,
  files: { include: string[]; exclude?: string[]; isolate?: false },
): TestProjectInlineConfiguration {
  return {
    plugins: [
      cloudflareTest(async () => ({
        wrangler: { configPath: "./wrangler.toml" },
        miniflare: {
          // For tests of several databases of segments. Under its own name, no other test has it.
          d1Databases: { SECOND_COLD_DB: "second-cold-db" },
          bindings: {
            ...TEST_SETTINGS,
            MODEL_RUNS,
            MIGRATIONS: await readD1Migrations("migrations"),
            COLD_MIGRATIONS: await readD1Migrations("migrations-cold"),
          },
        },
      })),
    ],
    test: { name, ...files, setupFiles: ["test/objects/setup.ts"], testTimeout: 120_000 },
  };
}

export default defineConfig({
  test: {
    // Many tests wait: for a mail's second attempt, a limit's window, a server's start. A file of the lanes api and
    // e2e uses a third of a core, so five files in parallel fill two cores. No test here measures time.
    maxWorkers: 5,
    sequence: { sequencer: MixedLanes },
    projects: [
      {
        // Tests of pure modules share no state, so all files run in one process.
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          isolate: false,
          // Modules are loaded by Node: behind Vite's getters for imports, loops take longer.
          experimental: { viteModuleRunner: false },
          setupFiles: ["test/unit/setup.ts"],
          // Twenty seconds at most on an idle machine, and several times that beside other files.
          testTimeout: 180_000,
        },
      },
      {
        // Tests that drive real processes over HTTP. Files that need no server of their own share one.
        test: {
          name: "api",
          include: ["test/api/**/*.test.ts"],
          globalSetup: ["test/support/shared-server.ts"],
          testTimeout: TIMEOUT,
          // The first hook that starts a server may also bundle it.
          hookTimeout: TIMEOUT,
        },
      },
      {
        // The client library: its source on Node, against failing sinks and a real server.
        resolve: {
          alias: {
            "#runtime": new URL("sdk/src/runtime/node.ts", import.meta.url).pathname,
            "#names": new URL("sdk/src/names.ts", import.meta.url).pathname,
          },
        },
        test: {
          name: "sdk",
          include: ["sdk/test/**/*.test.ts"],
          globalSetup: ["sdk/test/support/build.ts", "test/support/chromium.ts"],
          testTimeout: TIMEOUT,
          hookTimeout: TIMEOUT,
        },
      },
      {
        // The console: the real build on a real server, in a real browser.
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/support/chromium.ts", "test/support/shared-server.ts"],
          testTimeout: TIMEOUT,
          hookTimeout: TIMEOUT,
          // The default of one second is too short for a page beside four other files.
          expect: { poll: { timeout: 20_000 } },
        },
      },
      // Loading 900 modules takes longer than most of these files, so files share a runtime unless they need their own:
      // see docs/decisions/0091-object-tests-share-runtimes.md.
      workerd("workerd", { include: [OBJECTS], exclude: [...AHEAD, ...ALONE], isolate: false }),
      workerd("workerd-ahead", { include: AHEAD, isolate: false }),
      workerd("workerd-alone", { include: ALONE }),
    ],
  },
});
