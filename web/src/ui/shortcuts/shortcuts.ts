import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { keep } from "../../lib/keep.ts";
import type { ShortcutKey } from "./shortcut-keys.ts";

const OFF_KEY = "taffrail.shortcuts";

/** Whether single-key shortcuts are on. Users of speech input turn them off. */
export const shortcutsOn = signal(localStorage.getItem(OFF_KEY) !== "off");

export function setShortcutsOn(on: boolean): void {
  shortcutsOn.value = on;
  keep(OFF_KEY, on ? null : "off");
}

/** Handles single-key shortcuts, unless the user is typing or a dialog is open. */
export function useShortcuts(acts: Readonly<Record<ShortcutKey, () => void>>): void {
  const latest = useRef(acts);
  latest.current = acts;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const act = Object.entries(latest.current).find(([key]) => key === event.key)?.[1];
      if (act === undefined || !isShortcut(event)) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
}

/** Whether a key may be a single-key shortcut: the user is not typing, and no dialog is open. */
export function isShortcut(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  return shortcutsOn.peek() && !isTyping(event.target) && document.querySelector("dialog[open]") === null;
}

/** Focuses the element with this `data-shortcut`. @returns whether it could be focused: a hidden element cannot */
export function focusOn(name: string): boolean {
  const element = document.querySelector(`[data-shortcut="${name}"]`);
  if (!(element instanceof HTMLElement)) return false;
  element.focus();
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) element.select();
  return document.activeElement === element;
}

/** Clicks the element with this `data-shortcut`. */
export function pressOn(name: string): void {
  const element = document.querySelector(`[data-shortcut="${name}"]`);
  if (element instanceof HTMLElement) element.click();
}

/**
 * Like `focusOn`, but waits for an element that is not there yet, because its part of the page is loading. A key, a click or a
 * change of the focus ends the wait.
 */
export function focusOnceThere(name: string): void {
  if (focusOn(name)) return;
  const focused = document.activeElement;
  const wait = new AbortController();
  const observer = new MutationObserver(() => {
    if (document.activeElement !== focused || focusOn(name)) wait.abort();
  });
  observer.observe(document.body, { childList: true, subtree: true, attributes: true });
  wait.signal.addEventListener("abort", () => observer.disconnect());
  for (const type of ["keydown", "pointerdown"]) {
    addEventListener(type, () => wait.abort(), { capture: true, signal: wait.signal });
  }
}

/** Selects a part of the text of the text area with this `data-shortcut`. */
export function selectIn(name: string, start: number, end: number): void {
  const element = document.querySelector(`[data-shortcut="${name}"]`);
  if (element instanceof HTMLTextAreaElement) element.setSelectionRange(start, end);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement) return true;
  // In a list letters choose an option.
  if (target instanceof HTMLSelectElement) return true;
  if (target.closest("[role=listbox], [role=menu]") !== null) return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type);
}
