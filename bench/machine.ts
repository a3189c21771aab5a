import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { ROOT } from "../scripts/lib/paths.ts";
import { type Yardstick, yardstick } from "./yardstick.ts";

/** The conditions without which figures have no meaning. */
export interface Machine {
  date: string;
  /** Commit of the sources; `null` outside a git clone. A `+` means that they were changed since. */
  commit: string | null;
  cpu: string;
  cores: number;
  memoryGiB: number;
  node: string;
  workerd: string;
  /** Average number of runnable processes in the minute before the run. Above 0.2 the machine was not quiet. */
  loadBefore: number;
  yardstick: Yardstick;
}

export function machine(): Machine {
  return {
    date: new Date().toISOString(),
    commit: commitOfSources(),
    cpu: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    node: process.versions.node,
    workerd: workerdVersion(),
    loadBefore: loadavg()[0] ?? 0,
    yardstick: yardstick(),
  };
}

function workerdVersion(): string {
  const file = createRequire(createRequire(import.meta.url).resolve("miniflare")).resolve("workerd/package.json");
  return String(JSON.parse(readFileSync(file, "utf8")).version);
}

/** Returns the commit of the sources; `null` outside a git clone. A `+` means that they were changed since. */
export function commitOfSources(): string | null {
  const git = (...args: string[]) =>
    execFileSync("git", args, { cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    return (
      git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain", "--", "src", "wrangler.toml") ? "+" : "")
    );
  } catch {
    return null;
  }
}
