import { Check, Copy as CopyShape } from "lucide";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { toast } from "./toasts.tsx";

/** Milliseconds for which the button shows "Copied". */
const SAID_MS = 1500;

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
  onCopied?: (() => void) | undefined;
}

/** A button that copies a text to the clipboard. */
export function Copy({ text, label = "Copy", onCopied }: CopyProps) {
  const [copied, setCopied] = useState(false);
  return (
    <Button
      small
      icon={copied ? Check : CopyShape}
      onClick={async () => {
        if (!(await copyText(text))) return;
        onCopied?.();
        setCopied(true);
        setTimeout(() => setCopied(false), SAID_MS);
      }}
    >
      <span aria-live="polite">{copied ? "Copied" : label}</span>
    </Button>
  );
}
