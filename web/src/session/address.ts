import { signal } from "@preact/signals";

/** What links of mails and the ways back from a provider bring in an address. */
const NAMES = ["token", "code", "linkCode", "accessToken", "refreshToken", "isNewUser", "linked", "error"] as const;

export type Given = Partial<Record<(typeof NAMES)[number], string>>;

/** Pages whose addresses may hold one: elsewhere the names mean something else. */
const PAGES = ["/auth/verify", "/auth/magic", "/auth/reset", "/auth/callback", "/auth/invitation"] as const;

export type GivenPage = (typeof PAGES)[number];

/**
 * What an address has brought, and to which page: a token is of one page alone, and the tab may go on to another one before
 * the first has forgotten it. It leaves the address bar, and with it the history and what a screenshot would show,
 * before anything is drawn. A second link that is opened in the same tab changes the fragment alone, so it is waited for.
 */
const brought = signal(take());
addEventListener("hashchange", () => {
  const next = take();
  if (next) brought.value = next;
});

const NOTHING: Given = {};

/** What the address of this page has brought. */
export function givenTo(page: GivenPage): Given {
  return brought.value?.page === page ? brought.value.values : NOTHING;
}

/** What was brought to this page is of no more use. */
export function forgetGivenTo(page: GivenPage): void {
  if (brought.peek()?.page === page) brought.value = null;
}

function take(): { page: GivenPage; values: Given } | null {
  const pathname = location.pathname.replace(/\/$/, "");
  const page = PAGES.find((path) => path === pathname);
  if (page === undefined) return null;
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
  return { page, values: found };
}
