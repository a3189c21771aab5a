import { spawn } from "node:child_process";
import path from "node:path";
import { ROOT } from "./paths.ts";

const WRANGLER = path.join(ROOT, "node_modules", "wrangler", "bin", "wrangler.js");

/** No telemetry, no look for a newer version: nothing outside is contacted unless the command itself is about it. */
export const WRANGLER_ENV = {
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_HIDE_BANNER: "true",
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
};

export interface WranglerResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs one wrangler command to its end and gives back what it said. An aborted `signal` ends it. */
export function wrangler(args: readonly string[], signal?: AbortSignal, input = ""): Promise<WranglerResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WRANGLER, ...args], {
      cwd: ROOT,
      env: { ...process.env, ...WRANGLER_ENV },
      stdio: ["pipe", "pipe", "pipe"],
      ...(signal ? { signal } : {}),
    });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code: code ?? 1, stdout, stderr }));
    child.stdin.end(input);
  });
}

/** Runs wrangler in the foreground, with this terminal, and gives back its exit code. */
export function wranglerForeground(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WRANGLER, ...args], {
      cwd: ROOT,
      env: { ...env, ...WRANGLER_ENV },
      stdio: "inherit",
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
      });
    }
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(signal ? 1 : (code ?? 1)));
  });
}
