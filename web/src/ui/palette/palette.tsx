import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { lazyModule, useLazy } from "../use-lazy.ts";
import type { NamedSource } from "./named.ts";

const DIALOG = lazyModule(() => import("./palette-dialog.tsx"));

const isOpen = signal(false);

/** Text typed since the palette was opened, until its dialog has the focus. */
let typedEarly = "";

export function openPalette(): void {
  typedEarly = "";
  isOpen.value = true;
}

/** Whether the palette takes the keys, also while its dialog is still loading. */
export function isPaletteOpen(): boolean {
  return isOpen.peek();
}

/** The command palette, opened with Ctrl-K or Cmd-K. @param named finds what members named */
export function Palette({ named }: { named: NamedSource }) {
  const dialog = useLazy(DIALOG, isOpen.value, close);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const hasDialog = document.querySelector("dialog[open]") !== null;
      const hasControl = event.ctrlKey || event.metaKey;
      if (event.key.toLowerCase() === "k" && hasControl && !event.altKey && !event.shiftKey) {
        event.preventDefault();
        if (isOpen.peek()) close();
        // Another dialog has the focus and the page's commands are not its.
        else if (!hasDialog) openPalette();
        return;
      }
      if (!isOpen.peek() || hasDialog || hasControl || event.altKey) return;
      // The dialog is still loading. What is typed is for it, not for the page, where letters are shortcuts.
      if (event.key === "Escape") close();
      else if (event.key === "Backspace") typedEarly = typedEarly.slice(0, -1);
      else if (event.key.length === 1) typedEarly += event.key;
      else if (event.key !== "Enter") return;
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener("keydown", pressed, true);
    return () => removeEventListener("keydown", pressed, true);
  }, []);
  return dialog === null ? null : <dialog.PaletteDialog typedEarly={() => typedEarly} named={named} onClose={close} />;
}

function close(): void {
  isOpen.value = false;
}
