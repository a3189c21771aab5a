import { signal } from "@preact/signals";

/** Parameters of links in mails and of redirects from a provider. */
const NAMES = ["token", "code", "linkCode", "accessToken", "refreshToken", "isNewUser", "linked", "error"] as const;

export type LinkParameters = Partial<Record<(typeof NAMES)[number], string>>;

/** Pages that accept these parameters. On other pages the names mean something else. */
const PAGES = [
  "/auth/verify",
  "/auth/magic",
  "/auth/reset",
  "/auth/callback",
  "/auth/invitation",
  "/auth/address",
] as const;

export type LinkPage = (typeof PAGES)[number];

/**
 * Parameters that the address contained, and the page they belong to, because the tab may move to another page before
 * this one has cleared them. They are removed from the address before the first render, so that the history and
 * screenshots do not contain tokens. A second link opened in the same tab changes only the fragment, hence the
 * listener.
 */
const current = signal(take());
addEventListener("hashchange", () => {
  const next = take();
  if (next) current.value = next;
});

/**
 * Follows a link of a mail within the tab, which a load would empty of what it holds in memory.
 * @param route of the router
 * @returns `false` if the link leads to another site
 */
export function followMailedLink(href: string, route: (path: string, isReplaced: boolean) => void): boolean {
  if (new URL(href).origin !== location.origin) return false;
  history.pushState(null, "", href);
  const next = take();
  if (next) current.value = next;
  route(location.pathname + location.search, true);
  return true;
}

const NOTHING: LinkParameters = {};

/** Parameters that the address contained for this page. */
export function linkParametersOf(page: LinkPage): LinkParameters {
  return current.value?.page === page ? current.value.values : NOTHING;
}

/** Clears the parameters of this page after use. */
export function clearLinkParameters(page: LinkPage): void {
  if (current.peek()?.page === page) current.value = null;
}

function take(): { page: LinkPage; values: LinkParameters } | null {
  const pathname = location.pathname.replace(/\/$/, "");
  const page = PAGES.find((path) => path === pathname);
  if (page === undefined) return null;
  const query = new URLSearchParams(location.search);
  const fragment = new URLSearchParams(location.hash.slice(1));
  const found: LinkParameters = {};
  for (const name of NAMES) {
    const value = fragment.get(name) ?? query.get(name);
    if (value) found[name] = value;
    query.delete(name);
  }
  // Keep other fragments, for example that of the skip link.
  if (Object.keys(found).length === 0) return null;
  history.replaceState(null, "", location.pathname + (query.size > 0 ? `?${query}` : ""));
  return { page, values: found };
}
