import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export const SDK: string = path.resolve(import.meta.dirname, "../..");
const MODULES = path.resolve(SDK, "../node_modules");

/** Runs a program of node_modules under this Node. */
export function runModule(file: string, args: readonly string[], cwd: string): void {
  execFileSync(process.execPath, [path.join(MODULES, file), ...args], { cwd, stdio: "inherit" });
}

export interface Packed {
  tarball: Uint8Array;
  /** A directory whose node_modules holds the tarball's content and nothing else. */
  consumer: string;
}

/** Packs the files to publish, and unpacks them like an installation. */
export function pack(): Packed {
  const dir = mkdtempSync(path.join(tmpdir(), "taffrail-pack-"));
  process.on("exit", () => rmSync(dir, { recursive: true, force: true }));
  const output = execFileSync("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", dir], {
    cwd: SDK,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const name = /"filename":\s*"([^"]+)"/.exec(output)?.[1];
  if (!name) throw new Error(`npm pack named no file:\n${output}`);
  const tarball = path.join(dir, name);
  const target = path.join(dir, "node_modules/taffrail");
  mkdirSync(target, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "-C", target, "--strip-components=1"]);
  return { tarball: readFileSync(tarball), consumer: dir };
}

/** Returns the entry points of package.json with the files of their types. */
export function entryPoints(): { name: string; types: string }[] {
  const manifest: { exports: Record<string, { import?: { types: string } } | string> } = JSON.parse(
    readFileSync(path.join(SDK, "package.json"), "utf8"),
  );
  return Object.entries(manifest.exports).flatMap(([name, target]) =>
    typeof target === "object" && target.import ? [{ name, types: target.import.types }] : [],
  );
}
