import { describe, expect, test } from "vitest";
import { settingsProblems, settingsSchema } from "../../../src/settings.ts";
import { failedStart, freePort, temporaryDir } from "../../support/server.ts";

const SECRETS = { JWT_SECRET: "x".repeat(40), REFRESH_PEPPER: "y".repeat(40) };
const ENDPOINTS = ["PROVIDER_A_AUTHORIZE_URL", "PROVIDER_A_TOKEN_URL", "PROVIDER_A_API_URL", "PROVIDER_B_ISSUER"];

describe.each(ENDPOINTS)("the setting %s", (name) => {
  test.each([
    "http://example.com",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "http://0.0.0.0:1",
    "https://user:secret@example.com",
    "https://example.com/#fragment",
    "ftp://example.com",
    "example.com",
  ])("refuses %s, naming the setting and not the value", (value) => {
    const problems = settingsProblems({ ...SECRETS, [name]: value });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(new RegExp(`^${name}: `));
    expect(problems[0]).not.toContain(value);
  });

  test.each(["https://example.com/path", "http://127.0.0.1:4000", "http://localhost/x", "http://[::1]:4000"])(
    "accepts %s",
    (value) => expect(settingsProblems({ ...SECRETS, [name]: value })).toEqual([]),
  );
});

test("the defaults are GitHub's and Google's", () => {
  expect(settingsSchema.parse(SECRETS)).toMatchObject({
    PROVIDER_A_AUTHORIZE_URL: "https://github.com/login/oauth/authorize",
    PROVIDER_A_TOKEN_URL: "https://github.com/login/oauth/access_token",
    PROVIDER_A_API_URL: "https://api.github.com",
    PROVIDER_B_ISSUER: "https://accounts.google.com",
  });
});

test("an invalid one stops the start and is named", async () => {
  const env = { PORT: String(await freePort()), DATA_DIR: temporaryDir(), PROVIDER_B_ISSUER: "http://example.com" };
  const { code, output } = await failedStart(env);
  expect(code).toBe(1);
  expect(output).toContain("PROVIDER_B_ISSUER: must be https");
});
