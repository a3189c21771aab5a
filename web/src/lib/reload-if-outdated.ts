import { isLoadNeeded, noteLeaving } from "./needed-loads.ts";
import { reachable } from "./reachable.ts";

/** Session storage key: local milliseconds at which this tab last reloaded because of a missing file. */
const KEY = "taffrail.loaded-anew";

/** Milliseconds within which a second reload is pointless: the file is missing for another reason. */
const ONCE_IN_MS = 10_000;

/**
 * Reloads the tab if a file of its release that the page waits for is missing because a newer release has replaced it.
 * Waits until the service is reachable: otherwise the reload would end on the browser's error page. A file that is loaded
 * early does not reload the tab, because a reload loses what was typed.
 */
export function reloadIfOutdated(): void {
  // Each missing file of a page raises an event.
  let isComing = false;
  // A load that ends because the user leaves is no missing file: a reload would take the place of the page to which the user goes.
  addEventListener("beforeunload", noteLeaving);
  addEventListener("vite:preloadError", (event) => {
    if (!isLoadNeeded()) return;
    if (Number(sessionStorage.getItem(KEY) ?? 0) + ONCE_IN_MS > Date.now()) return;
    event.preventDefault();
    if (isComing) return;
    isComing = true;
    void reachable().then(() => {
      sessionStorage.setItem(KEY, String(Date.now()));
      location.reload();
    });
  });
}
