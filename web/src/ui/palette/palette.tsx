import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { lazyModule, useLazy } from "../use-lazy.ts";

const DIALOG = lazyModule(() => import("./palette-dialog.tsx"));

const isOpen = signal(false);

export function openPalette(): void {
  isOpen.value = true;
}

/** The command palette, opened with Ctrl-K or Cmd-K. */
export function Palette() {
  const dialog = useLazy(DIALOG, isOpen.value, close);
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const isKey = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey);
      if (!isKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      // Another dialog has the focus and the page's commands are not its.
      if (document.querySelector("dialog[open]") !== null && !isOpen.peek()) return;
      isOpen.value = !isOpen.peek();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return dialog === null ? null : <dialog.PaletteDialog onClose={close} />;
}

function close(): void {
  isOpen.value = false;
}
