import type { CreatedDestination } from "../../../model/types.ts";
import { Button } from "../../../ui/button.tsx";
import { Copy } from "../../../ui/copy.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Row } from "../../../ui/page.tsx";
import css from "../keys/keys.module.css";

/** Shows the signing secret of a webhook, the only time that it is visible. */
export function SigningSecret({ made, onClose }: { made: CreatedDestination; onClose: () => void }) {
  return (
    <Dialog title={`Signing secret of ${made.name}`} onClose={onClose} closeOnBackdrop={false}>
      <p class={css.warning}>The secret is shown only once. Give it to the receiver now.</p>
      <div class={css.code}>
        <pre>{made.secret}</pre>
        <Copy text={made.secret ?? ""} label="Copy secret" />
      </div>
      <Row>
        <Button look="primary" onClick={onClose}>
          I have stored it
        </Button>
      </Row>
    </Dialog>
  );
}
