import { defineConfig, type ViteUserConfig } from "vitest/config";

/** `npm run test:examples`: beside `npm test`, because it installs frameworks of some hundred megabytes from the npm registry. */
const config: ViteUserConfig = defineConfig({
  test: {
    name: "examples",
    include: ["sdk/test/applications/*.app.ts"],
    root: new URL("../../..", import.meta.url).pathname,
    globalSetup: ["sdk/test/support/build.ts", "test/support/chromium.ts"],
    // Each is a build of its own, and they share two cores.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
export default config;
