import { copyText } from "./copy.tsx";
import { LeaveGuard } from "./leave-guard.tsx";

interface SecretGuardProps {
  /** What it is called in a sentence. */
  what: "key" | "secret";
  text: string;
  /** Called once it was copied, or is left behind. */
  onLeave?: () => void;
}

/** Asks before a page is left that shows a secret once. Render it until the secret was copied. */
export function SecretGuard({ what, text, onLeave }: SecretGuardProps) {
  return (
    <LeaveGuard
      title={`Leave without the ${what}?`}
      action={`Leave without the ${what}`}
      stay="Stay"
      rescue={{ label: "Copy and leave", run: () => copyText(text) }}
      {...(onLeave && { onLeave })}
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
