import { Check, Copy as CopyShape } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { toast } from "./toasts.tsx";

/** Milliseconds for which the button shows "Copied": at least, and at most while it has the pointer or the focus. */
const SAID_MS = 3000;
const HELD_MS = 10_000;

/** Copies a text to the clipboard. Shows a toast and returns `false` if the browser refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast("The browser blocked copying. Select the text and copy it manually.", "error");
    return false;
  }
}

interface CopyProps {
  text: string;
  label?: string;
  /** Ends the accessible name, where several buttons have the same label. */
  of?: string;
  onCopied?: (() => void) | undefined;
}

/** A button that copies a text to the clipboard. */
export function Copy({ text, label = "Copy", of, onCopied }: CopyProps) {
  /** Local epoch milliseconds of the copy that the button shows; `null`: none. */
  const [copiedAt, setCopiedAt] = useState<number | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const endAt = (at: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopiedAt(null), at - Date.now());
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const left = (): void => {
    if (copiedAt !== null) endAt(copiedAt + SAID_MS);
  };
  const isCopied = copiedAt !== null;
  return (
    <>
      <Button
        small
        icon={isCopied ? Check : CopyShape}
        onPointerLeave={left}
        onBlur={left}
        onClick={async () => {
          if (!(await copyText(text))) return;
          onCopied?.();
          const now = Date.now();
          setCopiedAt(now);
          endAt(now + HELD_MS);
        }}
      >
        {isCopied ? "Copied" : label}
        {of === undefined ? null : <span class="visually-hidden"> {of}</span>}
      </Button>
      {/* Beside the button, so that the return of its label is not announced. */}
      <span class="visually-hidden" role="status">
        {isCopied ? "On the clipboard" : ""}
      </span>
    </>
  );
}
