import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { endedBecause, user } from "./session.ts";

/** A page for people who are signed in. Anybody else is taken to the sign-in page, and back here from there. */
export function SignedInOnly({ children }: { children: ComponentChildren }) {
  const { url, route } = useLocation();
  const isSignedIn = user.value !== null;
  const [wasSignedIn, setWasSignedIn] = useState(isSignedIn);
  useEffect(() => {
    if (isSignedIn) setWasSignedIn(true);
    // Signed out on purpose: whoever signs in next need not be the one who was here.
    else if (wasSignedIn && endedBecause.peek() === null) route("/", true);
    else route(`/login?next=${encodeURIComponent(url)}`, true);
  }, [isSignedIn]);
  return isSignedIn ? children : null;
}
