/** Returns the path to open after signing in. Only paths of this console are allowed, never another site. */
export function nextPath(query: Readonly<Record<string, string>>): string {
  const { next = "/" } = query;
  if (!next.startsWith("/") || !URL.canParse(next, location.origin)) return "/";
  const { origin, pathname, search } = new URL(next, location.origin);
  return origin === location.origin && !pathname.startsWith("//") ? pathname + search : "/";
}

/** Address of a sign-in page that continues at a path. */
export function withNext(path: string, next: string): string {
  return next === "/" ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/** Sign-in pages, which already have a path to continue at. */
const SIGN_IN_PAGES = /^\/(?:login|auth\/(?:sign-up|forgot))\/?$/;
/** Pages to return to after signing in. Other pages of /auth are done once the user signs in. */
const RETURNED_TO = /^\/(?:auth\/invitation|playground)\/?$/;

/**
 * Address of the sign-in page for a visitor of `path`. Returns to that page, or to where that page would have
 * continued.
 */
export function signInFrom(path: string, query: Readonly<Record<string, string>>): string {
  if (SIGN_IN_PAGES.test(path)) return withNext("/login", nextPath(query));
  return withNext("/login", RETURNED_TO.test(path) ? path : "/");
}
