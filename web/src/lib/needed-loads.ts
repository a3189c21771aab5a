import { reachable } from "./reachable.ts";

let needed = 0;

/** Milliseconds after the start of a navigation in which nothing is loaded again: Firefox ends such loads at once. */
const LEAVING_MS = 5000;
let leftAt = Number.NEGATIVE_INFINITY;

/** Called when a navigation begins. The user may stay, or download a file, so it is not for good. */
export function noteLeaving(): void {
  leftAt = performance.now();
}

/** Resolves once no navigation has begun for a while. The document that is left never gets there. */
async function stayed(): Promise<void> {
  const left = leftAt + LEAVING_MS - performance.now();
  if (left <= 0) return;
  await new Promise((resolve) => setTimeout(resolve, left));
  await stayed();
}

/** Loads code that the page waits for. */
function loadNeeded<T>(load: () => Promise<T>): Promise<T> {
  needed++;
  return load().finally(() => {
    needed--;
  });
}

/** Whether the page waits for code. If not, only early loads are in progress, whose failure has no effect yet. */
export function isLoadNeeded(): boolean {
  return needed > 0;
}

/**
 * Loads code that could not be loaded again, once the service responds. Only a file that is missing then is of an older
 * release, which reloads the tab.
 * @param notice shows that the service does not respond; returns a function that ends it
 */
export async function loadAfterOutage<T>(
  load: () => Promise<T>,
  notice: () => () => void = () => () => undefined,
): Promise<T> {
  const shown: (() => void)[] = [];
  try {
    await reachable(() => {
      if (shown.length === 0) shown.push(notice());
    });
    await stayed();
    return await loadNeeded(load);
  } finally {
    for (const end of shown) end();
  }
}
