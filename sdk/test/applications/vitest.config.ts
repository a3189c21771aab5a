import { defineConfig, type ViteUserConfig } from "vitest/config";

/** `npm run test:examples`: separate from `npm test`, because it installs some hundred megabytes of frameworks. */
const config: ViteUserConfig = defineConfig({
  test: {
    name: "examples",
    include: ["sdk/test/applications/*.app.ts"],
    root: new URL("../../..", import.meta.url).pathname,
    globalSetup: ["sdk/test/support/build.ts", "test/support/chromium.ts"],
    // Each test is a separate build.
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
export default config;
