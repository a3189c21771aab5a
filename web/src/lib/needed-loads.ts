import { reachable } from "./reachable.ts";

let needed = 0;

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
    return await loadNeeded(async () => {
      await loadFilesAgain();
      return load();
    });
  } finally {
    for (const end of shown) end();
  }
}

/** Links of style sheets and modules that could not be loaded. */
const failed = new Set<HTMLLinkElement>();
// Such an event does not bubble.
addEventListener(
  "error",
  ({ target }) => {
    if (target instanceof HTMLLinkElement) failed.add(target);
  },
  true,
);

/** Requests files again that could not be loaded. The bundler's loader requests each once. */
export async function loadFilesAgain(): Promise<void> {
  const links = [...failed];
  failed.clear();
  await Promise.all(links.map((link) => (link.rel === "stylesheet" ? loadStyleAgain(link) : forgetFailure(link.href))));
}

function loadStyleAgain(link: HTMLLinkElement): Promise<void> {
  return new Promise((resolve) => {
    const again = link.cloneNode();
    again.addEventListener("load", () => resolve());
    again.addEventListener("error", () => {
      // As the loader reports what is missing.
      dispatchEvent(new Event("vite:preloadError", { cancelable: true }));
      resolve();
    });
    link.replaceWith(again);
  });
}

/** WebKit keeps the failure of a module, also for later pages, until its file is requested for another purpose. */
async function forgetFailure(url: string): Promise<void> {
  await fetch(url, { cache: "reload" }).catch(() => undefined);
}
