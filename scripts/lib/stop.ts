/** Milliseconds between two looks at whether the parent still lives. */
const ORPHAN_CHECK_MS = 1000;

/**
 * Milliseconds in which further signals count as the first one. Ctrl-C reaches the whole process group, and npm and the
 * bootstrap pass it on as well, so that one key press arrives up to three times.
 */
const SAME_SIGNAL_MS = 250;

export interface StopSignals {
  /** Aborted when this process is asked to stop. */
  stop: AbortSignal;
  /** Aborted when it is asked again, and is to end at once. */
  cut: AbortSignal;
}

/** Asks to stop are SIGINT, SIGTERM and SIGHUP, and the end of the bootstrap, which a kill -9 does not let pass anything on. */
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

/** Fulfilled when the signal is aborted, at once if it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
