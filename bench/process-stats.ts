import { readdirSync, readFileSync } from "node:fs";
import { sum } from "./stats.ts";

/** Microseconds of one clock tick of `/proc`: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MICROS = 10_000;

/** User and system time of a process so far, in microseconds; `null` without `/proc`. */
export function cpuMicros(pid: number): number | null {
  const fields = statFields(pid);
  return fields === null ? null : (Number(fields[11]) + Number(fields[12])) * TICK_MICROS;
}

/** Time that all cores together were busy so far, in microseconds; `null` without `/proc`. */
export function busyMicros(): number | null {
  try {
    // cpu user nice system idle iowait irq softirq steal ...
    const [, user, nice, system, , , irq, softirq, steal] = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "")
      .split(/\s+/)
      .map(Number);
    return sum([user, nice, system, irq, softirq, steal].map((ticks) => ticks ?? 0)) * TICK_MICROS;
  } catch {
    return null;
  }
}

/** Peak memory of a process, in MiB; `null` without `/proc`. */
export function peakMemoryMiB(pid: number): number | null {
  return memoryMiB(pid, "VmHWM");
}

/** Current memory of a process, in MiB; `null` without such a process or without `/proc`. */
export function residentMemoryMiB(pid: number): number | null {
  return memoryMiB(pid, "VmRSS");
}

/** Memory in MiB. */
export interface MemoryUse {
  /** Total memory in use. */
  rss: number;
  /** The part of it that is not file-backed: heaps and stacks. */
  anonymous: number;
}

/** Current memory of a process; `null` without such a process or without `/proc`. */
export function memoryUse(pid: number): MemoryUse | null {
  const rss = memoryMiB(pid, "VmRSS");
  const anonymous = memoryMiB(pid, "RssAnon");
  return rss === null || anonymous === null ? null : { rss, anonymous };
}

function memoryMiB(pid: number, field: "VmHWM" | "VmRSS" | "RssAnon"): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const kibibytes = new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
    return kibibytes === undefined ? null : Number(kibibytes) / 1024;
  } catch {
    return null;
  }
}

/** Processes started by this process, or by another parent, that run a program of this name. */
export function childrenRunning(program: string, parent = process.pid): number[] {
  let pids: number[];
  try {
    pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
  return pids.filter((pid) => {
    try {
      // Second and fourth field: the name in parentheses, and the parent.
      return Number(statFields(pid)?.[1]) === parent && readFileSync(`/proc/${pid}/comm`, "utf8").trim() === program;
    } catch {
      return false;
    }
  });
}

/** The fields after the name, from the third of `proc_pid_stat(5)` on, because the name may contain spaces. */
function statFields(pid: number): string[] | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return null;
  }
}
