import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ROOT } from "../../scripts/lib/paths.ts";

/** What an isolate has on Cloudflare, code and all (https://developers.cloudflare.com/workers/platform/limits/#memory). */
export const ISOLATE_MIB = 128;

/** What one load of `npm run test:memory` took. */
export interface LoadMemory {
  load: string;
  /** The most that the service's isolate held, garbage included: V8's heap, and ArrayBuffers. */
  heapMiB: number;
  buffersMiB: number;
  /** Both after the load, and after a collection. */
  liveMiB: number;
  /** How far the process rose over an idle one: simulators, SQLite and the allocator's free pages included. */
  processMiB: number;
  seconds: number;
  /** Of another workspace, meanwhile. */
  slowestWriteMs: number;
}

export interface MemoryResults {
  loads: LoadMemory[];
  /** What it said of answers and counts that were wrong; null when there was nothing. */
  wrong: string | null;
}

/** Runs `npm run test:memory` and takes its figures. */
export async function benchMemory(): Promise<MemoryResults> {
  const directory = mkdtempSync(path.join(tmpdir(), "taffrail-memory-"));
  const out = path.join(directory, "memory.json");
  try {
    const script = path.join(ROOT, "test/faults/attacks/isolate-memory.ts");
    const child = spawn(process.execPath, [script, "--out", out], { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    await once(child, "close");
    const failures = said.split("\n").filter((line) => /FAILED|THE RUNTIME HAS ENDED/.test(line));
    // SAFETY: the script writes such a list where it comes to its end.
    const loads = failures.some((line) => line.includes("ENDED"))
      ? []
      : (JSON.parse(readFileSync(out, "utf8")) as LoadMemory[]);
    return { loads, wrong: failures.length === 0 ? null : failures.join("; ") };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
