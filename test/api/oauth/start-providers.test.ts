import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { expect, test } from "vitest";
import { PROVIDERS } from "../../../src/accounts/oauth/provider.ts";
import { freePort, temporaryDir } from "../../support/server.ts";
import { accessTokenOf, FRONTEND, me, newEmail, signInWith } from "./support/flows.ts";

const ROOT = path.resolve(import.meta.dirname, "../../..");

test("npm run start:providers serves both providers, completes their flows, and ends as one process group", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, ["scripts/bootstrap.mjs", "scripts/start-providers.ts"], {
    cwd: ROOT,
    detached: true,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: String(port),
      DATA_DIR: temporaryDir(),
      FRONTEND_URL: FRONTEND,
      AUTH_LIMIT: "1000",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exit = once(child, "exit");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  try {
    await expect.poll(() => output, { timeout: 50_000 }).toContain("Taffrail is running.");
    for (const provider of PROVIDERS) {
      expect(output).toContain(`sign in: ${url}/auth/oauth/${provider}`);
      const email = newEmail();
      const landing = await signInWith(url, provider, { email });
      expect((await me(url, accessTokenOf(landing))).body.data.user.email).toBe(email);
    }
    const addresses = [...output.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].map(([address]) => address);
    expect(new Set(addresses).size).toBe(3);
    // Ctrl-C signals the whole group.
    process.kill(-(child.pid ?? 0), "SIGINT");
    expect(await exit).toEqual([0, null]);
    for (const address of new Set(addresses)) await expect(fetch(address)).rejects.toThrow();
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid ?? 0), "SIGKILL");
  }
});
