/** When this tab has last loaded itself anew, in local milliseconds: in session storage, as it must outlive that. */
const KEY = "taffrail.loaded-anew";

/** Milliseconds within which a second try is pointless: the file is missing for another reason. */
const ONCE_IN_MS = 10_000;

/**
 * A tab that was open while another release took the place of its own asks for files that are there no more: the new release
 * is loaded whole, at the address that was asked for.
 */
export function loadAnewIfReplaced(): void {
  addEventListener("vite:preloadError", (event) => {
    if (Number(sessionStorage.getItem(KEY) ?? 0) + ONCE_IN_MS > Date.now()) return;
    sessionStorage.setItem(KEY, String(Date.now()));
    event.preventDefault();
    location.reload();
  });
}
