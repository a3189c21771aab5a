/** Milliseconds between two checks whether the parent still runs. */
const ORPHAN_CHECK_MS = 1000;

/**
 * Milliseconds in which further signals count as the first one. Ctrl-C reaches the whole process group, and npm and the
 * bootstrap forward it as well, so that one key press arrives up to three times.
 */
const SAME_SIGNAL_MS = 250;

export interface StopSignals {
  /** Aborted at the first request to stop. */
  stop: AbortSignal;
  /** Aborted at the second request, which ends the process immediately. */
  cut: AbortSignal;
}

/** Requests to stop: SIGINT, SIGTERM, SIGHUP, and the end of the bootstrap, which cannot forward a kill -9. */
export function stopSignals(): StopSignals {
  const stop = new AbortController();
  const cut = new AbortController();
  let askedAt = 0;
  const ask = () => {
    if (!stop.signal.aborted) askedAt = Date.now();
    else if (Date.now() - askedAt > SAME_SIGNAL_MS) cut.abort();
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, ask);
  const parent = process.ppid;
  if (process.env.TAFFRAIL_PARENT === String(parent)) {
    const watch = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(watch);
      ask();
    }, ORPHAN_CHECK_MS);
    watch.unref();
  }
  return { stop: stop.signal, cut: cut.signal };
}

/** Resolves when the signal is aborted, immediately if it already is. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
