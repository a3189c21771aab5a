import { recovery } from "./retry.ts";

/** When this tab has last loaded itself anew, in local milliseconds: in session storage, as it must outlive that. */
const KEY = "taffrail.loaded-anew";

/** Milliseconds within which a second try is pointless: the file is missing for another reason. */
const ONCE_IN_MS = 10_000;

/** Milliseconds between two words about an outage at least. */
const TELL_EVERY_MS = 6000;

/**
 * A tab that was open while another release took the place of its own asks for files that are there no more: the new release
 * is loaded whole, at the address that was asked for. Not while the service is away: the browser would show its own page then,
 * and stay there.
 * @param onOutage told that a page cannot be loaded now, again and again while it cannot
 */
export function loadAnewIfReplaced(onOutage: () => void): void {
  // Each file of a page that is missing is an event of its own.
  let isComing = false;
  addEventListener("vite:preloadError", (event) => {
    if (Number(sessionStorage.getItem(KEY) ?? 0) + ONCE_IN_MS > Date.now()) return;
    event.preventDefault();
    if (isComing) return;
    isComing = true;
    let toldAt = Number.NEGATIVE_INFINITY;
    const load = async (): Promise<void> => {
      const isThere = await fetch("/", { cache: "no-store" }).then(
        ({ status }) => status < 500,
        () => false,
      );
      if (isThere) {
        sessionStorage.setItem(KEY, String(Date.now()));
        location.reload();
        return;
      }
      if (Date.now() - toldAt > TELL_EVERY_MS) {
        toldAt = Date.now();
        onOutage();
      }
      recovery.add(() => void load());
    };
    void load();
  });
}
