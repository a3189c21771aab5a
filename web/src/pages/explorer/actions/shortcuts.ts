import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Keys of the explorer, with what they do. */
export const SHORTCUTS = [
  { key: "/", does: "Go to the search" },
  { key: "f", does: "Go to the filters" },
  { key: "t", does: "Go to the time range" },
  { key: "h", does: "Go to the histogram" },
  { key: "r", does: "Load again" },
  { key: "l", does: "Follow live, or stop following" },
  { key: "p", does: "Pause the live view, or go on" },
  { key: "v", does: "Saved views" },
  { key: "s", does: "Share: links, and the query as a command" },
  { key: "?", does: "Show these keys" },
] as const;

export type ShortcutKey = (typeof SHORTCUTS)[number]["key"];

const OFF_KEY = "taffrail.shortcuts";

/** Whether single keys do anything: whoever speaks to a computer, or hits keys by mistake, turns them off. */
export const shortcutsOn = signal(localStorage.getItem(OFF_KEY) !== "off");

export function setShortcutsOn(on: boolean): void {
  shortcutsOn.value = on;
  if (on) localStorage.removeItem(OFF_KEY);
  else localStorage.setItem(OFF_KEY, "off");
}

/** Single keys, where nothing is being typed and no dialog is open. */
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

/** Puts the focus on what a `data-shortcut` marks. @returns whether it is there: what is hidden takes none */
export function focusOn(name: string): boolean {
  const element = document.querySelector(`[data-shortcut="${name}"]`);
  if (!(element instanceof HTMLElement)) return false;
  element.focus();
  if (element instanceof HTMLInputElement) element.select();
  return document.activeElement === element;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}
