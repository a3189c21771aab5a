import { useState } from "preact/hooks";
import { askToClose } from "../../../lib/leaving.ts";
import type { CreatedDestination } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Row } from "../../../ui/page.tsx";
import { SecretGuard, whenSelected } from "../../../ui/secret-guard.tsx";
import css from "../keys/keys.module.css";

/** Shows the signing secret of a webhook, the only time that it is visible. */
export function SigningSecret({ made, onClose }: { made: CreatedDestination; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const copied = (): void => setCopied(true);
  const secret = made.secret ?? "";
  return (
    <>
      <Dialog title={`Signing secret of ${made.name}`} onClose={() => askToClose(onClose)} closeOnBackdrop={false}>
        <p class={css.warning}>The secret is shown only once. Give it to the receiver now.</p>
        <div class={css.code} onCopy={whenSelected(secret, copied)}>
          <pre>{secret}</pre>
          <Copy text={secret} label="Copy secret" onCopied={copied} />
        </div>
        <Row>
          <Button look="primary" onClick={onClose}>
            I have stored it
          </Button>
        </Row>
      </Dialog>
      {isCopied ? null : <SecretGuard what="secret" text={secret} />}
    </>
  );
}
