import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../../..");

const FIT = {
  MAILER: "resend",
  MAIL_FROM: "logs@example.com",
  RESEND_API_KEY: "re",
  BASE_URL: "https://logs.example.com",
};

/** Returns the output of `npm run deploy -- --dry-run`. */
function dryRun(env: Readonly<Record<string, string>>): { code: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["scripts/deploy.ts", "--dry-run"], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, CI: "1", ...FIT, ...env },
    encoding: "utf8",
  });
  return { code: status, output: `${stdout}${stderr}` };
}

describe("npm run deploy", () => {
  test.each([
    [{}, { blocklist: "on", bucket: "create or find the bucket taffrail-cold", isBound: true }],
    [
      { PASSWORD_BLOCKLIST: "off", COLD_BUCKET: "off" },
      { blocklist: "off", bucket: "use no bucket", isBound: false },
    ],
  ])("with %j sets PASSWORD_BLOCKLIST, and binds a bucket unless COLD_BUCKET is off", (env, expected) => {
    const { code, output } = dryRun(env);
    expect(code).toBe(0);
    expect(output).toContain(`PASSWORD_BLOCKLIST=${expected.blocklist}\n`);
    expect(output).toContain(expected.bucket);
    // In the list of bindings that wrangler would deploy.
    expect(output).toContain("env.PASSWORD_BLOCKLIST");
    expect(output).toContain("env.COLD_DB");
    expect(output.includes("env.BUCKET")).toBe(expected.isBound);
    expect(existsSync(path.join(ROOT, "wrangler.bucketless.toml"))).toBe(false);
  });

  test("names all missing settings together", () => {
    const { code, output } = dryRun({ BASE_URL: "", MAILER: "", MAIL_FROM: "", RESEND_API_KEY: "" });
    expect(code).toBe(1);
    expect(
      output
        .trim()
        .split("\n")
        .map((line) => line.trim().split(":", 1)[0]),
    ).toEqual(["3 settings are invalid.", "BASE_URL", "MAILER", "MAIL_FROM"]);
  });

  test("names a missing, a conditional and an invalid setting together", () => {
    const { code, output } = dryRun({ MAIL_FROM: "", RESEND_API_KEY: "", AUTH_LIMIT: "0" });
    expect(code).toBe(1);
    expect(output).toContain("3 settings are invalid.");
    for (const name of ["MAIL_FROM", "RESEND_API_KEY", "AUTH_LIMIT"]) expect(output).toContain(`  ${name}: `);
  });

  test("refuses a BASE_URL of plain http, by its name", () => {
    const { code, output } = dryRun({ BASE_URL: "http://logs.example.com" });
    expect(code).toBe(1);
    expect(output).toContain("BASE_URL: must be https");
  });
});
