import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { user } from "./session.ts";

/** A page for people who are signed in. Anybody else is taken to the sign-in page, and back here from there. */
export function SignedInOnly({ children }: { children: ComponentChildren }) {
  const { url, route } = useLocation();
  const isSignedIn = user.value !== null;
  useEffect(() => {
    if (!isSignedIn) route(`/login?next=${encodeURIComponent(url)}`, true);
  }, [isSignedIn]);
  return isSignedIn ? children : null;
}

/** Where to go after signing in: a path of this console, never another site. */
export function nextPath(query: Readonly<Record<string, string>>): string {
  const next = query.next ?? "/";
  return /^\/(?![/\\])/.test(next) ? next : "/";
}
