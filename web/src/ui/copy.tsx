import { Check, Copy as CopyShape } from "lucide";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import css from "./copy.module.css";
import { Icon } from "./icon.tsx";
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
  const { isCopied, copy, left } = useCopied();
  return (
    <>
      <Button
        small
        {...left}
        onClick={async ({ currentTarget }) => {
          if (await copy(text, currentTarget)) onCopied?.();
        }}
      >
        <CopyWords isCopied={isCopied} label={label} />
        {of === undefined ? null : <span class="visually-hidden"> {of}</span>}
      </Button>
      <CopiedStatus isCopied={isCopied} />
    </>
  );
}

/** The words of a button that copies, as wide before as after it. */
export function CopyWords({ isCopied, label }: { isCopied: boolean; label: string }) {
  return (
    <span class={css.words} data-other={isCopied ? label : "Copied"}>
      <span class={css.shown}>
        <Icon shape={isCopied ? Check : CopyShape} />
        {isCopied ? "Copied" : label}
      </span>
    </span>
  );
}

/** Beside the button, so that the return of its label is not announced. */
export function CopiedStatus({ isCopied }: { isCopied: boolean }) {
  return (
    <span class="visually-hidden" role="status">
      {isCopied ? "On the clipboard" : ""}
    </span>
  );
}

/** For how long a button says that it has copied: while it has the pointer or the focus, within bounds. */
export function useCopied() {
  const [isCopied, setCopied] = useState(false);
  /** Local epoch milliseconds of the last copy. */
  const copiedAt = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const endAfter = (ms: number, isHeld: () => boolean): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(
      () => {
        if (isHeld()) endAfter(HELD_MS, () => false);
        else setCopied(false);
      },
      copiedAt.current + ms - Date.now(),
    );
  };
  const leftFor = (other: ":hover" | ":focus") => (event: { currentTarget: HTMLButtonElement }) => {
    if (isCopied && Date.now() >= copiedAt.current + SAID_MS && !event.currentTarget.matches(other)) setCopied(false);
  };
  return {
    isCopied,
    copy: async (text: string, button: HTMLButtonElement): Promise<boolean> => {
      if (!(await copyText(text))) return false;
      copiedAt.current = Date.now();
      setCopied(true);
      endAfter(SAID_MS, () => button.matches(":hover, :focus"));
      return true;
    },
    /** What ends it: that the button loses one of both, and does not have the other. */
    left: { onPointerLeave: leftFor(":focus"), onBlur: leftFor(":hover") },
  };
}
