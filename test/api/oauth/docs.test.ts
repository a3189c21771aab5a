import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { me } from "./support/flows.ts";
import { type OAuthService, startOAuthService } from "./support/service.ts";

const DOCUMENT = readFileSync(path.resolve(import.meta.dirname, "../../../docs/accounts-oauth.md"), "utf8");

let service: OAuthService;
beforeAll(async () => {
  // The default setup, where the service is its own frontend.
  service = await startOAuthService({ FRONTEND_URL: "" });
});
afterAll(() => service.stop());

test("the shell example of the code mode works unchanged", async () => {
  const example = [...DOCUMENT.matchAll(/```sh\n(.*?)```/gs)].find(([, code]) => code?.includes("CHALLENGE"))?.[1];
  const run = promisify(execFile)("bash", ["-euo", "pipefail", "-c", example ?? "exit 1"], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, URL: service.url },
  });
  const { data } = JSON.parse((await run).stdout);
  expect(data).toMatchObject({ user: { email: "ada@example.com", name: "Ada" }, isNewUser: true });
  expect((await me(service.url, data.accessToken)).status).toBe(200);
});
