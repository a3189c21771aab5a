/** Milliseconds between two looks at whether the parent still lives. */
const ORPHAN_CHECK_MS = 1000;

/**
 * A signal that is aborted when this process is asked to stop: by SIGINT, SIGTERM or SIGHUP, or by the end of the
 * bootstrap that started it, which a kill -9 does not let say so.
 */
export function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => controller.abort());
  const parent = process.ppid;
  if (process.env.TAFFRAIL_PARENT === String(parent)) {
    setInterval(() => {
      if (process.ppid !== parent) controller.abort();
    }, ORPHAN_CHECK_MS).unref();
  }
  return controller.signal;
}

/** Fulfilled when the signal is aborted, at once if it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
