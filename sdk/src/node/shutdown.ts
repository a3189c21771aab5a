import { uncaughtReport } from "./uncaught-report.ts";

/** The actions of one logger when the process ends. */
export interface Guarded {
  /** Milliseconds that `flush` may take. */
  timeoutMs: number;
  flush(): Promise<unknown>;
  /**
   * Saves the pending deliveries for the next start, synchronously. Can be called repeatedly.
   * @param isExit whether only synchronous code still runs, such as later exit listeners
   */
  save(isExit: boolean): void;
  /** Logs an error that no code caught. */
  uncaught(error: unknown, origin: string): void;
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof SIGNALS;

const SIGNAL_NAMES: readonly Signal[] = ["SIGINT", "SIGTERM"];
/**
 * Events of errors that no code caught. Node reports unhandled rejections as uncaught errors; Bun exits immediately
 * unless they have a listener. A function, because edge runtimes evaluate this module too, and have no
 * `process.versions`.
 */
function errorEvents(): readonly string[] {
  return process.versions.bun ? ["uncaughtException", "unhandledRejection"] : ["uncaughtException"];
}

const guarded = new Set<Guarded>();
let isEnding = false;

/** Flushes and saves the entries of a logger at the end of the process, until the returned function is called. */
export function guard(one: Guarded): () => void {
  if (guarded.size === 0) {
    process.on("exit", onExit);
    for (const event of errorEvents()) process.on(event, onUncaught);
    for (const signal of SIGNAL_NAMES) process.on(signal, onSignal);
  }
  guarded.add(one);
  return () => {
    if (!guarded.delete(one) || guarded.size > 0) return;
    process.off("exit", onExit);
    for (const event of errorEvents()) process.off(event, onUncaught);
    for (const signal of SIGNAL_NAMES) process.off(signal, onSignal);
  };
}

function onExit(): void {
  for (const one of guarded) one.save(true);
}

/** Flushes with a deadline, saves the remaining entries, and lets the process end as it would without the library. */
function end(finish: () => void): void {
  const isSecond = isEnding;
  isEnding = true;
  const over = () => {
    for (const one of guarded) one.save(false);
    finish();
  };
  // A second signal ends the process without waiting for the flush.
  if (isSecond) over();
  else Promise.allSettled([...guarded].map((one) => one.flush())).then(over);
}

function onSignal(signal: Signal): void {
  // Another listener decides when the process ends. Its exit saves the remaining entries.
  if (process.listenerCount(signal) > 1) {
    for (const one of guarded) one.flush();
    return;
  }
  end(() => {
    process.off(signal, onSignal);
    if (process.platform === "win32") process.exit(128 + SIGNALS[signal]);
    process.kill(process.pid, signal);
  });
}

function onUncaught(error: unknown, origin: unknown): void {
  for (const one of guarded) one.uncaught(error, typeof origin === "string" ? origin : "unhandledRejection");
  if (process.listenerCount("uncaughtException") > 1) return;
  end(() => {
    // Not rethrown, because the platform would show the throwing line of this file.
    process.stderr.write(uncaughtReport(error), () => process.exit(1));
  });
}
