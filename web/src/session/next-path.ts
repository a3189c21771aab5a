/** Where to go after signing in: a path of this console, never another site. */
export function nextPath(query: Readonly<Record<string, string>>): string {
  const { next = "/" } = query;
  if (!next.startsWith("/") || !URL.canParse(next, location.origin)) return "/";
  const { origin, pathname, search } = new URL(next, location.origin);
  return origin === location.origin && !pathname.startsWith("//") ? pathname + search : "/";
}

/** The address of a page for signing in, which goes on to this path. */
export function withNext(path: string, next: string): string {
  return next === "/" ? path : `${path}?next=${encodeURIComponent(next)}`;
}

/** Pages for signing in, which know where to go on. */
const SIGN_IN_PAGES = /^\/(?:login|auth\/(?:sign-up|forgot))\/?$/;
/** Pages that signing in leads back to. What other pages of /auth are about ends with the sign-in. */
const RETURNED_TO = /^\/(?:auth\/invitation|playground)\/?$/;

/** The sign-in page for a visitor of a page: it leads back there, or to where that page was leading. */
export function signInFrom(path: string, query: Readonly<Record<string, string>>): string {
  if (SIGN_IN_PAGES.test(path)) return withNext("/login", nextPath(query));
  return withNext("/login", RETURNED_TO.test(path) ? path : "/");
}
