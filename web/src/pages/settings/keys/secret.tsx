import { useEffect, useRef, useState } from "preact/hooks";
import { INSTALL_NOTE } from "../../../model/client-library.ts";
import type { MadeKey } from "../../../model/types.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Row } from "../../../ui/page.tsx";
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
  const warning = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // On a small screen the buttons are below the visible part.
    if (isLeaving) warning.current?.scrollIntoView({ block: "center" });
  }, [isLeaving]);
  const logs = `/w/${workspaceId}/p/${made.projectId}`;
  const maySend = made.scopes.includes("logs:write");
  return (
    <Dialog title={`API key ${made.name}`} onClose={() => setLeaving(true)} closeOnBackdrop={false}>
      <p class={css.warning}>The key is shown only once. Store it now, for example in a password manager.</p>
      <Code title="Key" text={made.secret} />
      <Code title={maySend ? "Send an entry" : "Query entries"} text={curlLine(made, location.origin)} />
      {maySend ? (
        <Code title="JavaScript or TypeScript" text={clientCode(made, location.origin)} note={INSTALL_NOTE} />
      ) : null}
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
        <a class={buttonClass("plain")} href={logs}>
          Stored, open logs
        </a>
      </Row>
    </Dialog>
  );
}

function Code({ title, text, note }: { title: string; text: string; note?: string }) {
  return (
    <div class={css.code}>
      <h3>{title}</h3>
      {note ? <p>{note}</p> : null}
      <pre>{text}</pre>
      <Copy text={text} label={`Copy ${title === "Key" ? "key" : "code"}`} />
    </div>
  );
}
