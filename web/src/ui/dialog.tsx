import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import css from "./dialog.module.css";

interface DialogProps {
  title: string;
  /** Escape, the cross, and where `closeOnBackdrop` is not false a click beside it. */
  onClose: () => void;
  /** False where a stray click would lose something: a secret shown once, a filled-in form. */
  closeOnBackdrop?: boolean;
  /** A panel is as high as the window, at its side: for what is long. */
  shape?: "box" | "panel";
  children: ComponentChildren;
}

/** What the last dialog was opened from. */
let lastOpener: HTMLElement | null = null;

/** Where the focus goes once a dialog is closed: for one that takes another's place, where that one came from. */
function openerOf(focused: Element | null): HTMLElement | null {
  const isOutside = focused instanceof HTMLElement && focused !== document.body && focused.closest("dialog") === null;
  if (isOutside) lastOpener = focused;
  return lastOpener;
}

/** A modal dialog, open as long as it is rendered. The browser's own element keeps the focus inside; it is given back after. */
export function Dialog({ title, onClose, closeOnBackdrop = true, shape = "box", children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const opener = openerOf(document.activeElement);
    if (dialog && !dialog.open) dialog.showModal();
    // Where there is something to fill in, one can begin at once.
    dialog?.querySelector<HTMLElement>("input, select, textarea")?.focus();
    return () => {
      dialog?.close();
      // The element is out of the page by now, and with it the browser's own memory of where the focus was.
      const isLost = document.activeElement === null || document.activeElement === document.body;
      if (isLost && opener?.isConnected) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={shape === "panel" ? `${css.dialog} ${css.panel}` : css.dialog}
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Else the browser closes it by itself the second time, whatever `onClose` thinks of it.
        event.preventDefault();
        onClose();
      }}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (closeOnBackdrop && event.target === ref.current) onClose();
      }}
    >
      <div class={css.head}>
        <h2 id={titleId}>{title}</h2>
        <Button look="quiet" small onClick={onClose} aria-label="Close">
          ✕
        </Button>
      </div>
      <div class={css.body}>{children}</div>
    </dialog>
  );
}
