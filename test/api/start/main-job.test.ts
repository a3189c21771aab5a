import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { firstSteps } from "../../../scripts/lib/first-steps.ts";
import { freePort, startServer, type TestServer } from "../../support/server.ts";

const run = promisify(execFile);
const DEMO = path.resolve(import.meta.dirname, "../../../scripts/demo.ts");

describe("the main job", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.stop());

  test("by the commands that the start prints, pasted into a shell", async () => {
    const commands = server.output().slice(server.output().indexOf("URL="));
    const { stdout } = await run("sh", ["-c", commands]);
    const [receipt, page] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(receipt).toMatchObject({ error: null, data: { accepted: 1, firstSeq: 1 } });
    expect(page).toMatchObject({ error: null, data: { logs: [{ message: "Hello from curl", seq: 1 }] } });
  });

  test("by tokens that look like other identifiers in part", async () => {
    const read = firstSteps(server.url)
      .split("\n")
      .find((line) => line.startsWith("TOKEN="));
    const ME = JSON.stringify({
      data: { accessToken: "eyJa.ws_b.eyJc", refreshToken: "rt_ws_d", personalWorkspace: { id: "ws_e", slug: "me" } },
    });
    const { stdout } = await run("sh", ["-c", `${read}; echo "$TOKEN $SPACE"`], { env: { ...process.env, ME } });
    expect(stdout).toBe("eyJa.ws_b.eyJc ws_e\n");
  });

  test("the start lists the outbox, which captures mails", async () => {
    expect(server.output()).toContain(`Mails           ${server.url}/dev/outbox`);
  });

  test("by the demo, which checks every response", async () => {
    const { stdout } = await run(process.execPath, [DEMO, server.url]);
    expect(stdout).toContain("401 API_KEY_REVOKED");
    expect(stdout).toContain("All checks passed.");
  });

  test("the demo reports that no server responds, and fails", async () => {
    const failed = run(process.execPath, [DEMO, `http://127.0.0.1:${await freePort()}`]);
    await expect(failed).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining("npm start") });
  });
});
