import { useEffect, useRef } from "preact/hooks";
import { isShortcut, shortcutsOn } from "./shortcuts.ts";

/** Keys that open a page of the workspace after `g`, and the pages. */
export const GO_KEYS = {
  o: "Overview",
  l: "Logs",
  p: "Patterns",
  c: "Compare",
  b: "Boards",
  a: "Alerts",
  s: "Settings",
} as const;

export type GoKey = keyof typeof GO_KEYS;

/** The keys that open a page of a workspace, for an item that opens it, too. */
export function goKeysOf(page: string): { shortcut?: string } {
  const key = Object.entries(GO_KEYS).find(([, name]) => name === page)?.[0];
  return key === undefined || !shortcutsOn.value ? {} : { shortcut: `g ${key}` };
}

/** Milliseconds within which the second key follows. */
const SECOND_KEY_MS = 1500;

/** Calls `go` with the key that follows `g`. `go` returns whether it is a page's; otherwise the key is the page's own. */
export function useGoKeys(go: (key: string) => boolean): void {
  const latest = useRef(go);
  latest.current = go;
  useEffect(() => {
    let begunAt = Number.NEGATIVE_INFINITY;
    const pressed = (event: KeyboardEvent): void => {
      // Shift alone is the beginning of another key.
      if (event.key === "Shift" || !isShortcut(event)) return;
      const isSecond = event.timeStamp - begunAt < SECOND_KEY_MS;
      begunAt = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (!isSecond || !latest.current(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    // Before the page, whose shortcuts are some of the same letters.
    addEventListener("keydown", pressed, true);
    return () => removeEventListener("keydown", pressed, true);
  }, []);
}
