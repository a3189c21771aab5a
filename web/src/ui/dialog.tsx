import { X } from "lucide";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { IconButton } from "./button.tsx";
import css from "./dialog.module.css";

interface DialogProps {
  title: string;
  /** Called on Escape, on the close button and, unless `closeOnBackdrop` is false, on a click outside. */
  onClose: () => void;
  /** False if a stray click would lose something: a secret shown once, a filled-in form. */
  closeOnBackdrop?: boolean;
  /** A panel is as high as the window, at its side, for long content. */
  shape?: "box" | "panel";
  children: ComponentChildren;
}

/** The element that opened the latest dialog. */
let lastOpener: HTMLElement | null = null;

/** Returns the element to focus after closing. A dialog opened from another dialog inherits that dialog's opener. */
function openerOf(focused: Element | null): HTMLElement | null {
  const isOutside = focused instanceof HTMLElement && focused !== document.body && focused.closest("dialog") === null;
  if (isOutside) lastOpener = focused;
  return lastOpener;
}

/** A modal dialog, open while rendered. The browser traps the focus; closing restores the focus. */
export function Dialog({ title, onClose, closeOnBackdrop = true, shape = "box", children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const focused = document.activeElement;
    const opener = openerOf(focused);
    if (dialog && !dialog.open) dialog.showModal();
    // Focus the first input, unless the content marks another element: an input at its end would scroll it there.
    const first = dialog?.querySelector<HTMLElement>("[data-focus-first]");
    (first ?? dialog?.querySelector<HTMLElement>("input, textarea, [role=combobox]"))?.focus();
    return () => {
      dialog?.close();
      // The element is already removed, so the browser cannot restore the focus itself.
      const isLost = document.activeElement === null || document.activeElement === document.body;
      // A dialog behind this one that stays open keeps its place.
      const behind = focused instanceof HTMLElement && focused.closest("dialog")?.isConnected ? focused : opener;
      if (isLost && behind?.isConnected) behind.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      class={shape === "panel" ? `${css.dialog} ${css.panel}` : css.dialog}
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        // Otherwise the browser closes the dialog on the second Escape, regardless of `onClose`.
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
        <IconButton icon={X} label="Close" small onClick={onClose} />
      </div>
      <div class={css.body}>{children}</div>
    </dialog>
  );
}
