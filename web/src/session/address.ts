import { signal } from "@preact/signals";

/** What links of mails and the ways back from a provider bring in an address. */
const NAMES = ["token", "code", "linkCode", "accessToken", "refreshToken", "isNewUser", "linked", "error"] as const;

export type Given = Partial<Record<(typeof NAMES)[number], string>>;

/** Pages whose addresses may hold one: elsewhere the names mean something else. */
const PAGES = /^\/auth\/(?:verify|magic|reset|callback|invitation)\/?$/;

/**
 * What the page's address has brought. It leaves the address bar, and with it the history and what a screenshot would show,
 * before anything is drawn. A second link that is opened in the same tab changes the fragment alone, so it is waited for.
 */
export const given = signal<Given>(take() ?? {});
addEventListener("hashchange", () => {
  const next = take();
  if (next) given.value = next;
});

/** Of no more use. */
export function forgetGiven(): void {
  given.value = {};
}

function take(): Given | null {
  if (!PAGES.test(location.pathname)) return null;
  const query = new URLSearchParams(location.search);
  const fragment = new URLSearchParams(location.hash.slice(1));
  const found: Given = {};
  for (const name of NAMES) {
    const value = fragment.get(name) ?? query.get(name);
    if (value) found[name] = value;
    query.delete(name);
  }
  // Another fragment, of the link that skips the navigation for one, stays.
  if (Object.keys(found).length === 0) return null;
  history.replaceState(null, "", location.pathname + (query.size > 0 ? `?${query}` : ""));
  return found;
}
