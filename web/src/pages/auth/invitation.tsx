import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { useLoad } from "../../lib/load.ts";
import { type OpenInvitation, openInvitation } from "../../model/invitation.ts";
import type { Workspace } from "../../model/types.ts";
import { loadWorkspaces } from "../../model/workspaces.ts";
import { forgetGivenTo, givenTo } from "../../session/address.ts";
import { withNext } from "../../session/next-path.ts";
import { authorized, signOut, updateUser, user } from "../../session/session.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import css from "./auth.module.css";
import { dropInvitation, keepInvitation, keptInvitation } from "./invitation-token.ts";
import { DeadEnd, isDead } from "./mailed-link.tsx";
import { GoOn, Note } from "./parts.tsx";

const HERE = "/auth/invitation";

/** Accepts the invitation to a workspace, which takes an account of the very address that was invited. */
export function Invitation() {
  const fromLink = givenTo(HERE).token;
  const [token, setToken] = useState(() => fromLink ?? keptInvitation());
  useEffect(() => {
    if (fromLink === undefined) return;
    keepInvitation(fromLink);
    setToken(fromLink);
  }, [fromLink]);
  useEffect(() => () => forgetGivenTo(HERE), []);
  return (
    <Page title="Invitation" narrow>
      {token === null ? (
        <DeadEnd title="No invitation is open" to="/" action="Go to the start">
          Open the link from the mail, and be sure to copy all of it. An invitation works once, for 7 days.
        </DeadEnd>
      ) : (
        <Opened key={token} token={token} />
      )}
    </Page>
  );
}

function Opened({ token }: { token: string }) {
  const { data, failure, reload } = useLoad(token, (signal) => openInvitation(token, signal));
  if (isDead(failure)) return <Over />;
  if (data === null) return failure ? <Failure failure={failure} onRetry={reload} /> : <Loading />;
  return user.value === null ? (
    <Stranger invitation={data} />
  ) : (
    <Guest key={user.value.id} token={token} invitation={data} user={user.value} />
  );
}

function Over() {
  useEffect(dropInvitation, []);
  return (
    <DeadEnd title="This invitation does not work" to="/" action="Go to the start">
      It was accepted already, taken back or replaced, or is older than 7 days. Ask the person who invited you for a new
      one.
    </DeadEnd>
  );
}

const ROLES = { owner: "an owner", admin: "an admin", member: "a member", viewer: "a viewer" } as const;

/** Who invites, and to what. The names are what people typed: each is isolated, whichever direction it is written in. */
function Terms({ invitation: { workspace, inviter, role } }: { invitation: OpenInvitation }) {
  return (
    <p class={css.terms}>
      {inviter === null ? "A member" : <Inviter {...inviter} />} invites you to the workspace{" "}
      <strong>
        <bdi>{workspace.name}</bdi>
      </strong>{" "}
      as {ROLES[role]}.
    </p>
  );
}

/** The address beside the name: a name can be anything. */
function Inviter({ email, name }: { email: string; name?: string }) {
  if (name === undefined) return <strong>{email}</strong>;
  return (
    <>
      <strong>
        <bdi>{name}</bdi>
      </strong>{" "}
      ({email})
    </>
  );
}

function Stranger({ invitation }: { invitation: OpenInvitation }) {
  return (
    <Card title="You are invited to a workspace">
      <Terms invitation={invitation} />
      <p class={css.terms}>
        Sign in to the account of <strong>{invitation.email}</strong>, or make one. Then you come back here and accept.
      </p>
      <Row>
        <GoOn to={withNext("/login", HERE)}>Sign in</GoOn>
        <GoOn to={withNext("/auth/sign-up", HERE)} plain>
          Make an account
        </GoOn>
      </Row>
    </Card>
  );
}

function Guest({ token, invitation, user }: { token: string; invitation: OpenInvitation; user: StoredUser }) {
  const { route } = useLocation();
  const { run, busy, failure } = useAction(async () => {
    const body = { token, confirmAddress: true };
    const { data } = await authorized<Workspace>("/invitations/accept", { body });
    dropInvitation();
    await updateUser({ ...user, emailVerified: true });
    await loadWorkspaces();
    toast(`You are a member of ${data.name} now.`);
    route(`/w/${data.id}`, true);
  });
  const wait = useWait(failure);
  if (isDead(failure)) return <Over />;
  const isAnothers = invitation.email !== user.email || failure?.code === "FORBIDDEN";
  return (
    <Card title="You are invited to a workspace">
      <Terms invitation={invitation} />
      {isAnothers ? (
        <Note tone="warn">
          <strong>The invitation is for another address than {user.email}.</strong>
          <span>Sign in to the account of {invitation.email}, or make one.</span>
        </Note>
      ) : (
        <p class={css.terms}>
          You are signed in as <strong>{user.email}</strong>. Accept the invitation with this account?
          {user.emailVerified === false
            ? " The invitation came to this address by mail, so accepting it also confirms the address."
            : ""}
        </p>
      )}
      <Row>
        {isAnothers ? null : (
          <Button look="primary" busy={busy} disabled={wait > 0} onClick={() => run()}>
            Accept
          </Button>
        )}
        <Button
          look={isAnothers ? "primary" : "plain"}
          onClick={async () => {
            await signOut();
            route(withNext("/login", HERE));
          }}
        >
          Use another account
        </Button>
        <Button
          look="quiet"
          onClick={() => {
            dropInvitation();
            route("/");
          }}
        >
          Not now
        </Button>
      </Row>
      {isAnothers ? null : <Problem failure={failure} />}
    </Card>
  );
}
