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
    ? "A personal workspace is deleted with its account."
    : reasonAgainst(workspace.role, "workspace.delete");
  return (
    <Section title="Danger zone">
      <Card title="Delete this workspace">
        <p>
          Permanently deletes all projects, entries, API keys, limits, invitations and members. Programs that send to
          this workspace are refused from their next request on.
        </p>
        <RoleNote id={NOTE} reason={reason} />
        <Row>
          <Button
            look="danger"
            disabled={reason !== null}
            aria-describedby={reason === null ? undefined : NOTE}
            onClick={() => setAsking(true)}
          >
            Delete workspace
          </Button>
          {workspace.personal ? <a href="/auth/account">Delete account</a> : null}
        </Row>
      </Card>
      {isAsking ? (
        <Confirm
          title={`Delete ${workspace.name}?`}
          action="Delete workspace"
          typed={workspace.name}
          onConfirm={async () => {
            await authorized(`/workspaces/${workspace.id}`, { method: "DELETE" });
            toast(`Deleted ${workspace.name}.`);
            route("/");
            dropWorkspace(workspace.id);
          }}
          onClose={() => setAsking(false)}
        >
          <p>
            Permanently deletes <strong>{workspace.name}</strong> with all its projects, entries, API keys and members.
            This cannot be undone.
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}
