import { useState } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import { dropKept } from "../../../model/kept-key.ts";
import { hasEnded } from "../../../model/key-state.ts";
import { ableTo, reasonAgainst } from "../../../model/roles.ts";
import type { ApiKey, MadeKey, Project, Workspace } from "../../../model/types.ts";
import { allOf } from "../../../model/workspaces.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { RotateDialog } from "../rotate-dialog.tsx";
import { RoleNote } from "../section.tsx";
import { CreateKey } from "./create-key.tsx";
import { EndedKeys } from "./ended-keys.tsx";
import { KeyList } from "./key-list.tsx";
import { KeySettings } from "./key-settings.tsx";
import { SecretDialog } from "./secret.tsx";

const NOTE = "keys-note";

type Asked =
  | { kind: "create" }
  | { kind: "rotate" | "delete" | "settings"; key: ApiKey }
  | { kind: "secret"; made: MadeKey };

export function ProjectKeys({ workspace, project }: { workspace: Workspace; project: Project }) {
  const path = `/projects/${project.id}/keys`;
  const { data: keys, failure, reload } = useLoad(path, (signal) => allOf<ApiKey>(path, workspace.id, signal));
  const [asked, setAsked] = useState<Asked | null>(null);
  const [showsEnded, setShowsEnded] = useState(false);
  const reason = reasonAgainst(workspace.role, "key.create");
  const close = (): void => setAsked(null);
  const made = (key: MadeKey): void => {
    setAsked({ kind: "secret", made: key });
    reload();
  };
  const now = Date.now();
  const working = keys?.filter((key) => !hasEnded(key, now)) ?? [];
  const ended = keys?.filter((key) => hasEnded(key, now)) ?? [];
  const describedBy = reason === null ? undefined : NOTE;
  return (
    <>
      <RoleNote id={NOTE} reason={reason} />
      <Row>
        <Button
          look="primary"
          disabled={reason !== null}
          aria-describedby={describedBy}
          onClick={() => setAsked({ kind: "create" })}
        >
          Create key
        </Button>
        <Button onClick={reload}>Refresh</Button>
      </Row>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {keys === null ? (
        failure ? null : (
          <Loading />
        )
      ) : working.length === 0 ? (
        <Empty title="No active keys">
          <p>
            {reason === null ? "Create" : `Ask ${ableTo("key.create")} for`} a key to send or read entries of{" "}
            {project.name}.
          </p>
        </Empty>
      ) : (
        <Card>
          <KeyList
            label="Active keys"
            keys={working}
            describedBy={describedBy}
            onSettings={(key) => setAsked({ kind: "settings", key })}
            onRotate={(key) => setAsked({ kind: "rotate", key })}
            onDelete={(key) => setAsked({ kind: "delete", key })}
          />
        </Card>
      )}
      {ended.length > 0 ? (
        <Row>
          <Button small aria-expanded={showsEnded} onClick={() => setShowsEnded(!showsEnded)}>
            {showsEnded ? "Hide" : "Show"} {endedText(ended)}
          </Button>
        </Row>
      ) : null}
      {showsEnded && ended.length > 0 ? (
        <Card>
          <EndedKeys workspace={workspace} keys={ended} />
        </Card>
      ) : null}
      {asked?.kind === "create" ? (
        <CreateKey workspaceId={workspace.id} project={project} onMade={made} onClose={close} />
      ) : null}
      {asked?.kind === "settings" ? (
        <KeySettings
          workspaceId={workspace.id}
          apiKey={asked.key}
          onChanged={() => {
            close();
            toast("Saved.");
            reload();
          }}
          onClose={close}
        />
      ) : null}
      {asked?.kind === "rotate" ? (
        <RotateDialog
          title={`Rotate ${asked.key.name}`}
          action="Create new key"
          onRotate={async (overlapSeconds) => {
            const rotate = { workspaceId: workspace.id, body: { overlapSeconds } };
            const { data } = await authorized<MadeKey>(`${path}/${asked.key.id}/rotate`, rotate);
            dropKept(asked.key.id);
            made(data);
          }}
          onClose={close}
        >
          <p>
            Creates a new key with the same name, scopes and expiry. The old key (<code>{asked.key.prefix}…</code>)
            keeps working for the overlap, so that you can replace it without downtime.
          </p>
        </RotateDialog>
      ) : null}
      {asked?.kind === "secret" ? <SecretDialog workspaceId={workspace.id} made={asked.made} onClose={close} /> : null}
      {asked?.kind === "delete" ? (
        <Confirm
          title={`Delete ${asked.key.name}?`}
          action="Delete key"
          onConfirm={async () => {
            await authorized(`${path}/${asked.key.id}`, { method: "DELETE", workspaceId: workspace.id });
            dropKept(asked.key.id);
            close();
            toast(`Deleted ${asked.key.name}.`);
            reload();
          }}
          onClose={close}
        >
          <p>
            Programs that use <strong>{asked.key.name}</strong> (<code>{asked.key.prefix}…</code>) are refused from
            their next request on. This cannot be undone. To replace a key without downtime, rotate it.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

function endedText(ended: readonly ApiKey[]): string {
  const deleted = ended.filter(({ revokedAt }) => revokedAt !== null).length;
  const what = deleted === 0 ? "expired" : deleted === ended.length ? "deleted" : "deleted or expired";
  return `${ended.length} ${what} ${ended.length === 1 ? "key" : "keys"}`;
}
