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

/** The one time that a key is seen. Only what says that it is stored ends it: a stray click or key would lose the secret. */
export function SecretDialog({ workspaceId, made, onClose }: SecretDialogProps) {
  const [isLeaving, setLeaving] = useState(false);
  const warning = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The way out is below what is to be copied: on a small screen out of sight.
    if (isLeaving) warning.current?.scrollIntoView({ block: "center" });
  }, [isLeaving]);
  const logs = `/w/${workspaceId}/p/${made.projectId}`;
  const maySend = made.scopes.includes("logs:write");
  return (
    <Dialog title={`The key ${made.name}`} onClose={() => setLeaving(true)} closeOnBackdrop={false}>
      <p class={css.warning}>
        This is the only time that the key is shown. Store it now, in a password manager or in your program's secrets.
      </p>
      <Code title="Key" text={made.secret} />
      <Code title={maySend ? "Send an entry" : "Query entries"} text={curlLine(made, location.origin)} />
      {maySend ? (
        <Code title="In JavaScript or TypeScript" text={clientCode(made, location.origin)} note={INSTALL_NOTE} />
      ) : null}
      {isLeaving ? (
        <p ref={warning} class={css.warning} role="alert">
          The key cannot be shown again. If it is not stored yet, copy it first. Then say so below.
        </p>
      ) : null}
      <Row>
        <Button
          look="primary"
          onClick={() => {
            onClose();
            toast("The key is ready to use.", "good", { href: logs, label: "Open the logs" });
          }}
        >
          I have stored it
        </Button>
        <a class={buttonClass("plain")} href={logs}>
          It is stored: open the logs
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
      <Copy text={text} label={`Copy ${title === "Key" ? "the key" : "this"}`} />
    </div>
  );
}
