import { useEffect } from "preact/hooks";
import { useLocation } from "preact-iso";
import { keep } from "../../lib/keep.ts";
import { user } from "../../session/session.ts";

/** Local storage key of the path to continue at after a mailed link, which opens a new tab. */
const NEXT_KEY = "taffrail.next";
/** Milliseconds for which the path is stored: the lifetime of the longest-lived mailed link. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;

export function rememberNext(path: string): void {
  keep(NEXT_KEY, path === "/" ? null : `${Date.now() + REMEMBERED_MS} ${path}`);
}

/** Returns the stored path; `/` if there is none. */
export function rememberedNext(): string {
  const [until = "", path = "/"] = (localStorage.getItem(NEXT_KEY) ?? "").split(" ", 2);
  return Number(until) > Date.now() ? path : "/";
}

/** Returns and deletes the stored path; `/` if there is none. */
export function takeNext(): string {
  const path = rememberedNext();
  localStorage.removeItem(NEXT_KEY);
  return path;
}

/** Deletes the stored path if it is this one, whose page is done. */
export function forgetNext(path: string): void {
  if (rememberedNext() === path) localStorage.removeItem(NEXT_KEY);
}

/** Leaves a sign-in page if the user is signed in. `isHeld` keeps the page, for example while it shows a result. */
export function useLeaveWhenSignedIn(next: string, isHeld = false): void {
  const { route } = useLocation();
  const isSignedIn = user.value !== null;
  useEffect(() => {
    if (isSignedIn && !isHeld) route(next, true);
  }, [isSignedIn, isHeld]);
}
