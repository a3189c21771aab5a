import { useRef } from "preact/hooks";
import { copyText } from "./copy.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface SecretGuardProps {
  /** What it is called in a sentence. */
  what: "key" | "secret";
  text: string;
  /** Called when it was copied by the answer. */
  onCopied?: () => void;
  /** Called when the user has decided to leave without it. The page may still be there later, and then asks again. */
  onLeave?: () => void;
}

/** Asks before a page is left that shows a secret once. Render it until the secret was copied. */
export function SecretGuard({ what, text, onCopied, onLeave }: SecretGuardProps) {
  const isCopied = useRef(false);
  return (
    <LeaveGuard
      title={`Leave without the ${what}?`}
      action={`Leave without the ${what}`}
      stay="Stay"
      rescue={{
        label: "Copy and leave",
        run: async () => {
          isCopied.current = await copyText(text);
          return isCopied.current;
        },
      }}
      onLeave={() => (isCopied.current ? onCopied : onLeave)?.()}
    >
      <p>The {what} has not been copied, and cannot be shown again.</p>
    </LeaveGuard>
  );
}

/** Handler of `copy` events of the part that shows a secret: a selection that is copied by hand counts, too. */
export function whenSelected(secret: string, onCopied: () => void): () => void {
  return () => {
    if (getSelection()?.toString().includes(secret)) onCopied();
  };
}
