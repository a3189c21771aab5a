import { defineConfig, type UserConfig } from "tsdown";

/** One file out for each file in, so that what an application does not import is not even read. */
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
  // Pino takes a transport's default export; the others are for destinations.
  outputOptions: { exports: "named" },
  // The platform is chosen where the package is used.
  deps: { neverBundle: ["#runtime", "#names", /^node:/] },
};

/** The terminal client in one file: nothing imports it. */
const cli: UserConfig = {
  ...library,
  entry: ["src/cli/bin.ts"],
  outDir: "dist/cli",
  format: ["esm"],
  unbundle: false,
  dts: false,
};

const configs: UserConfig[] = defineConfig([library, cli]);
export default configs;
