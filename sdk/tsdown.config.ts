import { defineConfig, type UserConfig } from "tsdown";

/** Builds one file for each source file, so that applications load only the files that they import. */
const library: UserConfig = {
  entry: [
    "src/index.ts",
    "src/node/index.ts",
    "src/node/edge.ts",
    "src/adapters/hono.ts",
    "src/adapters/express.ts",
    "src/browser/index.ts",
    "src/proxy/index.ts",
    "src/adapters/pino.ts",
    "src/adapters/winston.ts",
    "src/adapters/logtape.ts",
    "src/adapters/next.ts",
    "src/workers/index.ts",
    "src/nuxt/index.ts",
    "src/nuxt/nitro.ts",
    "src/testing.ts",
    "src/names.ts",
    "src/unnamed.ts",
    "src/runtime/browser.ts",
    "src/runtime/default.ts",
    "src/runtime/node.ts",
    "src/runtime/workerd.ts",
    "src/runtime/edge.ts",
  ],
  format: ["esm", "cjs"],
  platform: "neutral",
  target: "es2022",
  unbundle: true,
  dts: true,
  sourcemap: false,
  fixedExtension: true,
  // Pino uses the default export as a transport, and applications the named ones as destinations.
  outputOptions: { exports: "named" },
  // The package's user selects the platform by conditions.
  deps: { neverBundle: ["#runtime", "#names", /^node:/] },
};

/** Builds the terminal client as one file, because no module imports it. */
const cli: UserConfig = {
  ...library,
  entry: ["src/cli/bin.ts"],
  outDir: "dist/cli",
  format: ["esm"],
  unbundle: false,
  dts: false,
};

/** Builds the query language as one file, because its sources are also those of the service, outside of this folder. */
const query: UserConfig = {
  ...library,
  entry: ["src/query/index.ts"],
  outDir: "dist/query",
  unbundle: false,
};

const configs: UserConfig[] = defineConfig([library, cli, query]);
export default configs;
