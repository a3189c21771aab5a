import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { sleep } from "../support/sink.ts";

/** The published file. */
const BIN: string = path.resolve(import.meta.dirname, "../../dist/cli/bin.mjs");

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** The running program. */
export interface Program {
  readonly child: ChildProcess;
  out(): string;
  err(): string;
  /** Complete lines of standard output. */
  lines(): string[];
  until(holds: () => boolean): Promise<void>;
  readonly ended: Promise<Ended>;
}

export type Env = Readonly<Record<string, string>>;

export function start(args: readonly string[], env: Env): Program {
  const child = spawn(process.execPath, [BIN, ...args], { env: { PATH: process.env.PATH, TZ: "UTC", ...env } });
  const text = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text.out += more;
  });
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    text.err += more;
  });
  child.stdin.on("error", () => {});
  const ended = once(child, "close").then(([code]): Ended => ({ code, ...text }));
  running.add(child);
  ended.finally(() => running.delete(child));
  return {
    child,
    ended,
    out: () => text.out,
    err: () => text.err,
    lines: () => text.out.split("\n").slice(0, -1),
    async until(holds) {
      const giveUp = performance.now() + 20_000;
      while (!holds()) {
        if (performance.now() > giveUp) throw new Error(`Timed out.\n${text.out.slice(-2000)}\n${text.err}`);
        await sleep(10);
      }
    },
  };
}

/** Runs the program to its end. */
export function run(args: readonly string[], env: Env, input = ""): Promise<Ended> {
  const program = start(args, env);
  program.child.stdin?.end(input);
  return program.ended;
}

const running = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
