/** `npm run sdk:reference` writes the API reference in `docs/client/reference` from TSDoc; `-- --check` verifies it. */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const TOOLS = path.join(import.meta.dirname, "reference");
const PAGES = path.resolve(import.meta.dirname, "../../docs/client/reference");

if (!existsSync(path.join(TOOLS, "node_modules"))) {
  execFileSync("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: TOOLS, stdio: "inherit" });
}
const dir = mkdtempSync(path.join(tmpdir(), "taffrail-reference-"));
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
execFileSync(process.execPath, [path.join(TOOLS, "generate.mjs"), dir], { cwd: TOOLS, stdio: "inherit" });

if (process.argv.includes("--check")) {
  const [made, kept] = [pagesOf(dir), pagesOf(PAGES)];
  const stale = [...new Set([...made.keys(), ...kept.keys()])].filter((name) => made.get(name) !== kept.get(name));
  for (const name of stale) console.error(`docs/client/reference/${name} is outdated.`);
  if (stale.length > 0) console.error("Run npm run sdk:reference.");
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  rmSync(PAGES, { recursive: true, force: true });
  cpSync(dir, PAGES, { recursive: true });
}

function pagesOf(dir: string): Map<string, string> {
  const names = existsSync(dir) ? readdirSync(dir) : [];
  return new Map(names.map((name) => [name, readFileSync(path.join(dir, name), "utf8")]));
}
