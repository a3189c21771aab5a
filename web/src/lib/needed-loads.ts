let needed = 0;

/** Loads code that the page waits for. */
export function loadNeeded<T>(load: () => Promise<T>): Promise<T> {
  needed++;
  return load().finally(() => {
    needed--;
  });
}

/** Whether the page waits for code. If not, only early loads are in progress, whose failure has no effect yet. */
export function isLoadNeeded(): boolean {
  return needed > 0;
}
