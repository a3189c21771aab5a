import { uncaughtReport } from "./uncaught-report.ts";

/** What one logger does when the process is about to end. */
export interface Guarded {
  /** Milliseconds that `flush` may take. */
  timeoutMs: number;
  flush(): Promise<unknown>;
  /**
   * Puts what is left where the next start finds it, synchronously. May be called more than once.
   * @param isExit nothing asynchronous runs any more, but further exit listeners may
   */
  save(isExit: boolean): void;
  /** Logs an error nobody caught. */
  uncaught(error: unknown, origin: string): void;
}

const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof SIGNALS;

const SIGNAL_NAMES: readonly Signal[] = ["SIGINT", "SIGTERM"];
/**
 * Events of errors that no code caught. Node passes unhandled rejections on as uncaught errors; Bun exits at once unless
 * a listener takes them. A function, because edge runtimes evaluate this module too, and have no `process.versions`.
 */
function errorEvents(): readonly string[] {
  return process.versions.bun ? ["uncaughtException", "unhandledRejection"] : ["uncaughtException"];
}

const guarded = new Set<Guarded>();
let isEnding = false;

/** Watches over a logger until the returned function is called. */
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

/** Flushes with a deadline, then saves the rest and lets the process end as it would have. */
function end(finish: () => void): void {
  const isSecond = isEnding;
  isEnding = true;
  const over = () => {
    for (const one of guarded) one.save(false);
    finish();
  };
  // Asked twice: no more waiting.
  if (isSecond) over();
  else Promise.allSettled([...guarded].map((one) => one.flush())).then(over);
}

function onSignal(signal: Signal): void {
  // Who else listens has plans of its own and ends the process itself; its exit saves what is left.
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
    // Not thrown once more: the platform would show the line of this file that throws.
    process.stderr.write(uncaughtReport(error), () => process.exit(1));
  });
}
