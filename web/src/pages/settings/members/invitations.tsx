import { useState } from "preact/hooks";
import { mayAssign } from "../../../../../src/workspace/permissions.ts";
import { fieldError, useAction } from "../../../lib/action.ts";
import { useLoad } from "../../../lib/load.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import { type Invitation, ROLES, type Role, type Workspace } from "../../../model/types.ts";
import { allOf } from "../../../model/workspaces.ts";
import { authorized, user } from "../../../session/session.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Field } from "../../../ui/field.tsx";
import { Item, Items } from "../../../ui/items.tsx";
import { LocalOutbox } from "../../../ui/local-outbox.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { Problem, Unverified } from "../../../ui/problem.tsx";
import { Failure } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { toast } from "../../../ui/toasts.tsx";
import css from "./members.module.css";
import { RoleField } from "./role-field.tsx";

const NOTE = "invitations-note";
/** Milliseconds for which an invitation is valid. */
const VALID_MS = 7 * 24 * 60 * 60_000;

export function Invitations({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}/invitations`;
  const { data, failure, reload } = useLoad(path, (signal) => allOf<Invitation>(path, undefined, signal));
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  const again = useAction(async ({ email, role }: Invitation) => {
    await authorized(`/workspaces/${workspace.id}/members`, { body: { email, role } });
    toast(`Mailed ${email} a new link. An address gets one mail a minute: the link before works until then.`);
    reload();
  });
  const reason = reasonAgainst(workspace.role, "invitation.create");
  return (
    <Card title="Invitations">
      {reason === null ? <Inviting workspace={workspace} onInvited={reload} /> : <p id={NOTE}>{reason}</p>}
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      <Problem failure={again.failure} />
      {data && data.length > 0 ? (
        <>
          <p class={css.sent}>
            Each was mailed a link. Only the mail has it, because it proves who reads that address; it cannot be copied
            here.
          </p>
          <LocalOutbox />
        </>
      ) : null}
      {data && data.length > 0 ? (
        <Items label="Pending invitations">
          {data.map((invitation) => (
            <Item
              key={invitation.id}
              title={
                <>
                  {invitation.email}
                  <Badge>{invitation.role}</Badge>
                </>
              }
              facts={[
                ["Invited", <Time key="at" at={Date.parse(invitation.expiresAt) - VALID_MS} />],
                ["Expires", <Time key="ends" at={invitation.expiresAt} />],
              ]}
              actions={
                <>
                  <Button
                    small
                    busy={again.busy}
                    disabled={reason !== null}
                    aria-describedby={reason === null ? undefined : NOTE}
                    onClick={() => void again.run(invitation)}
                  >
                    Send again<span class="visually-hidden"> to {invitation.email}</span>
                  </Button>
                  <Button
                    small
                    look="danger"
                    disabled={reason !== null}
                    aria-describedby={reason === null ? undefined : NOTE}
                    onClick={() => setWithdrawn(invitation)}
                  >
                    Withdraw<span class="visually-hidden"> invitation of {invitation.email}</span>
                  </Button>
                </>
              }
            />
          ))}
        </Items>
      ) : null}
      {data?.length === 0 ? <p>No pending invitations.</p> : null}
      {withdrawn ? (
        <Confirm
          title="Withdraw invitation?"
          action="Withdraw"
          onConfirm={async () => {
            await authorized(`${path}/${withdrawn.id}`, { method: "DELETE" });
            setWithdrawn(null);
            toast("Invitation withdrawn.");
            reload();
          }}
          onClose={() => setWithdrawn(null)}
        >
          <p>
            The link sent to <strong>{withdrawn.email}</strong> stops working.
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}

interface InvitingProps {
  workspace: Workspace;
  onInvited: () => void;
}

function Inviting(props: InvitingProps) {
  return user.value?.emailVerified === false ? <Unverified /> : <InviteForm {...props} />;
}

function InviteForm({ workspace, onInvited }: InvitingProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const inviting = useAction(async () => {
    await authorized(`/workspaces/${workspace.id}/members`, { body: { email, role } });
    toast(`Mailed ${email} a link to join as ${role}.`);
    setEmail("");
    onInvited();
  });
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void inviting.run();
      }}
    >
      <div class={css.invite}>
        <Field
          label="E-mail address"
          hint="The address gets a link that works once, for 7 days. Without an account, it creates one."
          error={fieldError(inviting.failure, "email")}
        >
          {(props) => (
            <input
              {...props}
              type="email"
              value={email}
              autocomplete="off"
              onInput={(event) => setEmail(event.currentTarget.value)}
            />
          )}
        </Field>
        <RoleField role={role} offered={ROLES.filter((each) => mayAssign(workspace.role, each))} onChange={setRole} />
      </div>
      <Problem failure={inviting.failure} fields={["email"]} />
      <Row>
        <Button type="submit" look="primary" busy={inviting.busy} disabled={email.trim() === ""}>
          Invite
        </Button>
      </Row>
    </form>
  );
}
