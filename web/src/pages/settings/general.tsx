import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { fieldError, useAction } from "../../lib/action.ts";
import { reasonAgainst } from "../../model/roles.ts";
import type { Workspace } from "../../model/types.ts";
import { dropWorkspace, loadWorkspaces } from "../../model/workspaces.ts";
import { authorized, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toasts.tsx";
import { CreateWorkspace } from "./create-workspace.tsx";
import css from "./section.module.css";
import { RoleNote, Section } from "./section.tsx";

const DAY_MS = 86_400_000;
const NOTE = "general-note";

export function General({ workspace }: { workspace: Workspace }) {
  const [isCreating, setCreating] = useState(false);
  return (
    <Section title="General">
      <SettingsForm workspace={workspace} />
      <Card title="About this workspace">
        <dl class={css.about}>
          <dt>ID</dt>
          <dd>
            <code>{workspace.id}</code>
            <Copy text={workspace.id} label="Copy ID" />
          </dd>
          <dt>Slug</dt>
          <dd>
            <code>{workspace.slug}</code>
          </dd>
          <dt>Type</dt>
          <dd>{workspace.personal ? "Personal (deleted with its account)" : "Shared"}</dd>
          <dt>Your role</dt>
          <dd>
            {workspace.role}
            <a href={`/w/${workspace.id}/settings/members`}>Roles</a>
          </dd>
          <dt>Created</dt>
          <dd>
            <Time at={workspace.createdAt} />
          </dd>
        </dl>
      </Card>
      <Card title="New workspace">
        <p>A workspace has its own projects, keys, members and limits.</p>
        <Row>
          <Button onClick={() => setCreating(true)}>Create workspace</Button>
        </Row>
      </Card>
      <Leave workspace={workspace} />
      {isCreating ? <CreateWorkspace onClose={() => setCreating(false)} /> : null}
    </Section>
  );
}

function SettingsForm({ workspace }: { workspace: Workspace }) {
  const [name, setName] = useState(workspace.name);
  const [days, setDays] = useState(String(workspace.retentionDays));
  const [isShortening, setShortening] = useState(false);
  const reason = reasonAgainst(workspace.role, "workspace.update");
  const isLocked = reason !== null;
  const save = async (): Promise<void> => {
    const body = {
      ...(name === workspace.name ? {} : { name }),
      ...(days === String(workspace.retentionDays) ? {} : { retentionDays: Number(days) }),
    };
    const { data } = await authorized<Workspace>(`/workspaces/${workspace.id}`, { method: "PATCH", body });
    await loadWorkspaces();
    setName(data.name);
    setDays(String(data.retentionDays));
    toast("Settings saved.");
  };
  const saving = useAction(save);
  const isChanged = name !== workspace.name || days !== String(workspace.retentionDays);
  const isShorter = /^\d+$/.test(days) && Number(days) >= 1 && Number(days) < workspace.retentionDays;
  return (
    <Card title="Name and retention">
      <RoleNote id={NOTE} reason={reason} />
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (isShorter) setShortening(true);
          else void saving.run();
        }}
      >
        <Field label="Name" error={fieldError(saving.failure, "name")}>
          {(props) => (
            <input
              {...props}
              value={name}
              maxLength={100}
              disabled={isLocked}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field
          label="Keep entries (days)"
          hint="From 1 to 365. Entries older than this, by their own time, are deleted, and not stored if they arrive."
          error={fieldError(saving.failure, "retentionDays")}
        >
          {(props) => (
            <input
              {...props}
              type="number"
              inputMode="numeric"
              min={1}
              max={365}
              value={days}
              disabled={isLocked}
              onInput={(event) => setDays(event.currentTarget.value)}
            />
          )}
        </Field>
        <Problem failure={saving.failure} fields={["name", "retentionDays"]} />
        <Row>
          <Button
            type="submit"
            look="primary"
            busy={saving.busy}
            disabled={isLocked || !isChanged}
            aria-describedby={isLocked ? NOTE : undefined}
          >
            Save
          </Button>
        </Row>
      </form>
      {isShortening ? (
        <Confirm
          title="Shorten retention?"
          action={`Shorten to ${days} days`}
          onConfirm={async () => {
            await save();
            setShortening(false);
          }}
          onClose={() => setShortening(false)}
        >
          <p>
            Deletes all entries from before <Time at={Date.now() - Number(days) * DAY_MS} /> in all projects of this
            workspace. This cannot be undone.
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}

function Leave({ workspace }: { workspace: Workspace }) {
  const { route } = useLocation();
  const [isAsking, setAsking] = useState(false);
  const isOwn = workspace.personal && workspace.role === "owner";
  return (
    <Card title="Leave workspace">
      <p>
        {isOwn
          ? "You cannot leave your personal workspace."
          : "You lose access. API keys and invitations that you created here stop working."}
      </p>
      <Row>
        <Button look="danger" disabled={isOwn} onClick={() => setAsking(true)}>
          Leave workspace
        </Button>
      </Row>
      {isAsking ? (
        <Confirm
          title={`Leave ${workspace.name}?`}
          action="Leave"
          onConfirm={async () => {
            const me = user.peek();
            if (me === null) return;
            await authorized(`/workspaces/${workspace.id}/members/${me.id}`, { method: "DELETE" });
            toast(`You left ${workspace.name}.`);
            route("/");
            dropWorkspace(workspace.id);
          }}
          onClose={() => setAsking(false)}
        >
          <p>You lose access immediately. API keys and invitations that you created here stop working.</p>
        </Confirm>
      ) : null}
    </Card>
  );
}
