import { useState } from "preact/hooks";
import { useAction } from "../../../lib/action.ts";
import type { ApiKey, MadeKey } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Field } from "../../../ui/field.tsx";
import { Row } from "../../../ui/page.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { Select } from "../../../ui/select.tsx";

const OVERLAPS = [
  { seconds: 0, label: "None, stops immediately" },
  { seconds: 3600, label: "1 hour" },
  { seconds: 86_400, label: "1 day" },
  { seconds: 604_800, label: "7 days" },
  { seconds: 2_592_000, label: "30 days" },
] as const;

interface RotateKeyProps {
  workspaceId: string;
  apiKey: ApiKey;
  onMade: (key: MadeKey) => void;
  onClose: () => void;
}

export function RotateKey({ workspaceId, apiKey, onMade, onClose }: RotateKeyProps) {
  const [overlap, setOverlap] = useState("86400");
  const rotating = useAction(async () => {
    const path = `/projects/${apiKey.projectId}/keys/${apiKey.id}/rotate`;
    onMade((await authorized<MadeKey>(path, { workspaceId, body: { overlapSeconds: Number(overlap) } })).data);
  });
  return (
    <Dialog title={`Rotate ${apiKey.name}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void rotating.run();
        }}
      >
        <p>
          Creates a new key with the same name, scopes and expiry. The old key (<code>{apiKey.prefix}…</code>) keeps
          working for the overlap, so that you can replace it without downtime.
        </p>
        <Field label="Overlap">
          {(props) => (
            <Select
              {...props}
              value={overlap}
              options={OVERLAPS.map(({ seconds, label }) => ({ value: String(seconds), label }))}
              onChange={setOverlap}
            />
          )}
        </Field>
        <Problem failure={rotating.failure} />
        <Row>
          <Button type="submit" look="primary" busy={rotating.busy}>
            Create new key
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
