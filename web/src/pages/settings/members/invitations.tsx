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
import { useLocalOutbox } from "../../../ui/local-outbox.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { Problem, Unverified } from "../../../ui/problem.tsx";
import { Failure } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { type KeptLinks, useKeptLinks } from "./kept-links.ts";
import { LinkButton } from "./link-button.tsx";
import css from "./members.module.css";
import { RoleField } from "./role-field.tsx";

const NOTE = "invitations-note";

export function Invitations({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}/invitations`;
  const { data, failure, reload } = useLoad(path, (signal) => allOf<Invitation>(path, undefined, signal));
  const [withdrawn, setWithdrawn] = useState<Invitation | null>(null);
  const [invitedAddress, setInvitedAddress] = useState<string | null>(null);
  const isKept = useLocalOutbox();
  const kept = useKeptLinks(isKept, data);
  // Not of an invitation that is withdrawn or used.
  const invited = data?.find(({ email }) => email === invitedAddress) ?? null;
  const reason = reasonAgainst(workspace.role, "invitation.create");
  return (
    <Card title="Invitations">
      {reason === null ? (
        <Inviting
          workspace={workspace}
          onInvited={(email) => {
            setInvitedAddress(email);
            reload();
          }}
        />
      ) : (
        <p id={NOTE}>{reason}</p>
      )}
      <div class={invited === null ? undefined : css.invited}>
        <div role="status">{invited === null ? null : <Invited invitation={invited} isKept={isKept} />}</div>
        {/* Outside the status, which would be read again when the button says that it has copied. */}
        {invited !== null && isKept ? (
          <Row>
            <LinkButton invitation={invited} kept={kept} of={`(new invitation of ${invited.email})`} />
          </Row>
        ) : null}
      </div>
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data && data.length > 0 ? (
        <>
          {isKept ? null : <p class={css.sent}>Each invitation was sent by e-mail. Its link cannot be copied here.</p>}
          <Items label="Pending invitations">
            {data.map((invitation) => (
              // A renewed invitation has another id, and the button that was pressed stays.
              <Pending
                key={invitation.email}
                workspace={workspace}
                invitation={invitation}
                kept={isKept ? kept : null}
                onRenewed={reload}
                onWithdraw={() => setWithdrawn(invitation)}
              />
            ))}
          </Items>
        </>
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
            The link for <strong>{withdrawn.email}</strong> stops working.
          </p>
        </Confirm>
      ) : null}
    </Card>
  );
}

/** What was done last, and how the link reaches the invitee. */
function Invited({ invitation, isKept }: { invitation: Invitation; isKept: boolean }) {
  const { email, role, expiresAt } = invitation;
  return isKept ? (
    <p>
      Invited <strong>{email}</strong> as {role}. This local service sends no e-mail: copy the link and give it to{" "}
      {email}.
    </p>
  ) : (
    <p>
      Invitation sent to <strong>{email}</strong>. The link in it gives access as {role} until <Time at={expiresAt} />.
    </p>
  );
}

interface PendingProps {
  workspace: Workspace;
  invitation: Invitation;
  /** `null` if the service sends its mails. */
  kept: KeptLinks | null;
  onRenewed: () => void;
  onWithdraw: () => void;
}

function Pending({ workspace, invitation, kept, onRenewed, onWithdraw }: PendingProps) {
  const { id, email, role, expiresAt } = invitation;
  const renewing = useAction(async () => {
    const body = { email, role };
    const { data } = await authorized<Invitation>(`/workspaces/${workspace.id}/members`, { body });
    toast(
      kept === null
        ? `Invitation of ${email} renewed. If a mail was sent in the last minute, its link stays valid.`
        : data.id === id
          ? "No new link: an address gets at most one a minute and five an hour. The last one stays valid."
          : `Invitation of ${email} renewed. Its new link can be copied here in a few seconds.`,
    );
    onRenewed();
  });
  const reason = reasonAgainst(workspace.role, "invitation.create");
  const isOwners = reason === null && !mayAssign(workspace.role, role);
  const against = {
    disabled: reason !== null || isOwners,
    "aria-describedby": reason === null ? undefined : NOTE,
    title: isOwners ? "Only an owner can invite an owner." : undefined,
  };
  return (
    <Item
      title={
        <>
          {email}
          <Badge>{role}</Badge>
        </>
      }
      facts={[["Valid until", <Time key="ends" at={expiresAt} />]]}
      actions={
        <>
          {kept === null ? (
            // Not disabled during the request, so that it keeps the focus. A press then does nothing.
            <Button small {...against} aria-disabled={renewing.busy} onClick={() => void renewing.run()}>
              Send again<span class="visually-hidden"> to {email}</span>
            </Button>
          ) : (
            <LinkButton
              invitation={invitation}
              kept={kept}
              of={`for ${email}`}
              renewal={{ ...against, "aria-disabled": renewing.busy, onClick: () => void renewing.run() }}
            />
          )}
          <Button small look="danger" {...against} onClick={onWithdraw}>
            Withdraw<span class="visually-hidden"> invitation of {email}</span>
          </Button>
        </>
      }
    >
      <Problem failure={renewing.failure} />
    </Item>
  );
}

interface InvitingProps {
  workspace: Workspace;
  /** @param email as the service stores it */
  onInvited: (email: string) => void;
}

function Inviting(props: InvitingProps) {
  return user.value?.emailVerified === false ? <Unverified /> : <InviteForm {...props} />;
}

function InviteForm({ workspace, onInvited }: InvitingProps) {
  const [email, setEmail] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const inviting = useAction(async () => {
    const made = await authorized<Invitation>(`/workspaces/${workspace.id}/members`, { body: { email, role } });
    setEmail("");
    onInvited(made.data.email);
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
          hint="The link of the invitation gives access. It works once, for 7 days, and creates an account where there is none."
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
