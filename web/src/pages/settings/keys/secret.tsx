import { useEffect, useRef, useState } from "preact/hooks";
import { INSTALL_NOTE } from "../../../model/client-library.ts";
import type { MadeKey } from "../../../model/types.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Row } from "../../../ui/page.tsx";
import { SecretGuard, whenSelected } from "../../../ui/secret-guard.tsx";
import { toast } from "../../../ui/toasts.tsx";
import css from "./keys.module.css";
import { clientCode, curlLine } from "./samples.ts";

interface SecretDialogProps {
  workspaceId: string;
  made: MadeKey;
  onClose: () => void;
}

/**
 * Shows a new key, the only time that its secret is visible. Only the confirmation closes it: a stray click or key
 * press would lose the secret.
 */
export function SecretDialog({ workspaceId, made, onClose }: SecretDialogProps) {
  const [isLeaving, setLeaving] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const warning = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // On a small screen the buttons are below the visible part.
    if (isLeaving) warning.current?.scrollIntoView({ block: "center" });
  }, [isLeaving]);
  const logs = `/w/${workspaceId}/p/${made.projectId}`;
  const maySend = made.scopes.includes("logs:write");
  const copied = (): void => setCopied(true);
  return (
    <>
      <Dialog title={`API key ${made.name}`} onClose={() => setLeaving(true)} closeOnBackdrop={false}>
        <div class="stack" onCopy={whenSelected(made.secret, copied)}>
          <p class={css.warning}>The key is shown only once. Store it now, for example in a password manager.</p>
          <Code title="Key" text={made.secret} onCopied={copied} />
          <Code
            title={maySend ? "Send an entry" : "Query entries"}
            text={curlLine(made, location.origin)}
            onCopied={copied}
          />
          {maySend ? (
            <Code
              title="JavaScript or TypeScript"
              text={clientCode(made, location.origin)}
              note={INSTALL_NOTE}
              onCopied={copied}
            />
          ) : null}
        </div>
        {isLeaving ? (
          <p ref={warning} class={css.warning} role="alert">
            The key cannot be shown again. Copy and store it, then confirm below.
          </p>
        ) : null}
        <Row>
          <Button
            look="primary"
            onClick={() => {
              onClose();
              toast("API key created.", "good", { href: logs, label: "Open logs" });
            }}
          >
            I have stored it
          </Button>
          <a class={buttonClass("plain")} href={logs} data-leaves-freely>
            Stored, open logs
          </a>
        </Row>
      </Dialog>
      {isCopied ? null : <SecretGuard what="key" text={made.secret} />}
    </>
  );
}

interface CodeProps {
  title: string;
  text: string;
  note?: string;
  onCopied: () => void;
}

function Code({ title, text, note, onCopied }: CodeProps) {
  return (
    <div class={css.code}>
      <h3>{title}</h3>
      {note ? <p>{note}</p> : null}
      <pre>{text}</pre>
      <Copy text={text} label={`Copy ${title === "Key" ? "key" : "code"}`} onCopied={onCopied} />
    </div>
  );
}
