import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { endedBecause, user } from "./session.ts";

/** A page that requires a session. Redirects to the sign-in page, which returns here. */
export function SignedInOnly({ children }: { children: ComponentChildren }) {
  const { url, route } = useLocation();
  const isSignedIn = user.value !== null;
  const [wasSignedIn, setWasSignedIn] = useState(isSignedIn);
  useEffect(() => {
    if (isSignedIn) setWasSignedIn(true);
    // The user signed out: another user may sign in next.
    else if (wasSignedIn && endedBecause.peek() === null) route("/", true);
    else route(`/login?next=${encodeURIComponent(url)}`, true);
  }, [isSignedIn]);
  return isSignedIn ? children : null;
}
