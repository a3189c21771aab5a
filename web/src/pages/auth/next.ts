import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { user } from "../../session/session.ts";

/** Where to go on after a mailed link, which opens a tab of its own. In local storage, for all tabs. */
const NEXT_KEY = "taffrail.next";
/** Milliseconds that it is remembered: as long as the longest link that it is kept for works. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;

export function rememberNext(path: string): void {
  if (path === "/") localStorage.removeItem(NEXT_KEY);
  else localStorage.setItem(NEXT_KEY, `${Date.now() + REMEMBERED_MS} ${path}`);
}

/** The remembered path, once; the start where there is none. */
export function takeNext(): string {
  const [until = "", path = "/"] = (localStorage.getItem(NEXT_KEY) ?? "").split(" ", 2);
  localStorage.removeItem(NEXT_KEY);
  return Number(until) > Date.now() ? path : "/";
}

/** Whoever is signed in has nothing to do on a page for signing in; `isHeld`: but there is something to read first. */
export function useGoOn(next: string, isHeld = false): void {
  const { route } = useLocation();
  const isSignedIn = user.value !== null;
  useEffect(() => {
    if (isSignedIn && !isHeld) route(next, true);
  }, [isSignedIn, isHeld]);
}
