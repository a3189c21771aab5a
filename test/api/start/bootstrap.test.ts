import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { temporaryDir } from "../../support/server.ts";

const BOOTSTRAP = path.resolve(import.meta.dirname, "../../../scripts/bootstrap.mjs");

test("B16: an install that does not match package-lock.json fails, and nothing is installed instead", () => {
  const root = temporaryDir();
  mkdirSync(path.join(root, "scripts"));
  cpSync(BOOTSTRAP, path.join(root, "scripts/bootstrap.mjs"));
  writeFileSync(
    path.join(root, "package-lock.json"),
    JSON.stringify({ packages: { "node_modules/a": { version: "1.0.0" } } }),
  );
  // A substitute for npm: records its arguments, and fails for `ci` only.
  const calls = path.join(root, "calls");
  const npm = path.join(root, "npm.mjs");
  writeFileSync(
    npm,
    `import { appendFileSync } from "node:fs";
     appendFileSync(${JSON.stringify(calls)}, process.argv[2] + "\\n");
     process.exit(process.argv[2] === "ci" ? 1 : 0);`,
  );
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, "scripts/bootstrap.mjs"), "script.ts"], {
    env: { PATH: process.env.PATH, npm_execpath: npm },
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(existsSync(calls) && readFileSync(calls, "utf8")).toBe("ci\n");
  expect(stderr).toContain("package-lock.json");
  expect(stderr).toContain("npm install");
});
