import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Keyboard shortcuts of the explorer and their descriptions. */
export const SHORTCUTS = [
  { key: "/", does: "Focus search" },
  { key: "f", does: "Focus filters" },
  { key: "t", does: "Focus time range" },
  { key: "h", does: "Focus histogram" },
  { key: "r", does: "Refresh" },
  { key: "l", does: "Start or stop live" },
  { key: "p", does: "Pause or resume live" },
  { key: "v", does: "Saved views" },
  { key: "s", does: "Share" },
  { key: "?", does: "Keyboard shortcuts" },
] as const;

export type ShortcutKey = (typeof SHORTCUTS)[number]["key"];

const OFF_KEY = "taffrail.shortcuts";

/** Whether single-key shortcuts are on. Users of speech input turn them off. */
export const shortcutsOn = signal(localStorage.getItem(OFF_KEY) !== "off");

export function setShortcutsOn(on: boolean): void {
  shortcutsOn.value = on;
  if (on) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, "off");
}

/** Handles single-key shortcuts, unless the user is typing or a dialog is open. */
export function useShortcuts(acts: Record<ShortcutKey, () => void>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
      const known = SHORTCUTS.find(({ key }) => key === event.key);
      if (known === undefined || !shortcutsOn.peek() || isTyping(event.target)) return;
      if (document.querySelector("dialog[open]") !== null) return;
      event.preventDefault();
      latest.current[known.key]();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** Focuses the element with this `data-shortcut`. @returns whether it could be focused: a hidden element cannot */
export function focusOn(name: string): boolean {
  const element = document.querySelector(`[data-shortcut="${name}"]`);
  if (!(element instanceof HTMLElement)) return false;
  element.focus();
  if (element instanceof HTMLInputElement) element.select();
  return document.activeElement === element;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  // In an open list letters choose an option.
  if (target.closest("[role=listbox], [role=menu]") !== null) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}
