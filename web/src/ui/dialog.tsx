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
  children: ComponentChildren;
}

/** A modal dialog, open as long as it is rendered. The browser's own element keeps the focus inside and gives it back. */
export function Dialog({ title, onClose, closeOnBackdrop = true, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={ref}
      class={css.dialog}
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
