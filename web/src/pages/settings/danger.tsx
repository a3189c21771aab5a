import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { reasonAgainst } from "../../model/roles.ts";
import type { Workspace } from "../../model/types.ts";
import { dropWorkspace } from "../../model/workspaces.ts";
import { authorized } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { toast } from "../../ui/toasts.tsx";
import { RoleNote, Section } from "./section.tsx";

const NOTE = "danger-note";

export function Danger({ workspace }: { workspace: Workspace }) {
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  const reason = workspace.personal
    ? "A personal workspace cannot be deleted by itself. It goes together with the account it was made for."
    : reasonAgainst(workspace.role, "workspace.delete");
  return (
    <Section title="Danger zone">
      <Card title="Delete this workspace">
        <p>
          All its projects, entries, API keys, limits, invitations and members go, at once and for good. Programs that
          send to it are refused from the next request on.
        </p>
        <RoleNote id={NOTE} reason={reason} />
        <Row>
          <Button
            look="danger"
            disabled={reason !== null}
            aria-describedby={reason === null ? undefined : NOTE}
            onClick={() => setAsking(true)}
          >
            Delete the workspace
          </Button>
          {workspace.personal ? <a href="/auth/account">Delete your account</a> : null}
        </Row>
      </Card>
      {isAsking ? (
        <Confirm
          title={`Delete ${workspace.name}?`}
          action="Delete everything in it"
          typed={workspace.name}
          onConfirm={async () => {
            await authorized(`/workspaces/${workspace.id}`, { method: "DELETE" });
            toast(`${workspace.name} is deleted.`);
            route("/");
            dropWorkspace(workspace.id);
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            Every project of <strong>{workspace.name}</strong>, all their entries, keys and members go. Nobody can bring
            them back.
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}
