import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { ROOT } from "../../scripts/lib/paths.ts";

/**
 * Memory that the service's isolate may hold, garbage included: three quarters of an isolate of Cloudflare
 * (https://developers.cloudflare.com/workers/platform/limits/#memory). The rest is for peaks between two samples.
 */
export const PEAK_MIB = 96;

/** Memory during one load of `npm run test:memory`. */
export interface LoadMemory {
  load: string;
  /** Peak memory of the service's isolate, garbage included: V8's heap and ArrayBuffers. */
  heapMiB: number;
  buffersMiB: number;
  /** Both after the load and a garbage collection. */
  liveMiB: number;
  /** Increase of the process over an idle one, including simulators, SQLite and the allocator's free pages. */
  processMiB: number;
  seconds: number;
  /** Requests of another workspace in the meantime. */
  slowestWriteMs: number;
}

export interface MemoryResults {
  loads: LoadMemory[];
  /** The reported wrong responses and counts; `null` if there were none. */
  wrong: string | null;
}

/** Runs `npm run test:memory` and reads its figures. */
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
    // SAFETY: the script writes such a list when it completes.
    const loads = failures.some((line) => line.includes("ENDED"))
      ? []
      : (JSON.parse(readFileSync(out, "utf8")) as LoadMemory[]);
    return { loads, wrong: failures.length === 0 ? null : failures.join("; ") };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
