import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { useLoad } from "../../lib/load.ts";
import { type OpenInvitation, openInvitation } from "../../model/invitation.ts";
import type { Workspace } from "../../model/types.ts";
import { loadWorkspaces } from "../../model/workspaces.ts";
import { clearLinkParameters, linkParametersOf } from "../../session/link-parameters.ts";
import { withNext } from "../../session/next-path.ts";
import { authorized, signOut, updateUser, user } from "../../session/session.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import css from "./auth.module.css";
import { dropInvitation, keepInvitation, keptInvitation } from "./invitation-token.ts";
import { FailedOutcome, isInvalidLink } from "./mailed-link.tsx";
import { ContinueLink, Note } from "./parts.tsx";

const HERE = "/auth/invitation";

/** Accepts the invitation to a workspace. Requires an account with the invited address. */
export function Invitation() {
  const fromLink = linkParametersOf(HERE).token;
  const [token, setToken] = useState(() => fromLink ?? keptInvitation());
  useEffect(() => {
    if (fromLink === undefined) return;
    keepInvitation(fromLink);
    setToken(fromLink);
  }, [fromLink]);
  useEffect(() => () => clearLinkParameters(HERE), []);
  return (
    <Page title="Invitation" narrow>
      {token === null ? (
        <FailedOutcome title="No open invitation" to="/" action="Go to home page">
          Open the complete link from the e-mail. An invitation works once, for 7 days.
        </FailedOutcome>
      ) : (
        <OpenedInvitation key={token} token={token} />
      )}
    </Page>
  );
}

function OpenedInvitation({ token }: { token: string }) {
  const { data, failure, reload } = useLoad(token, (signal) => openInvitation(token, signal));
  if (isInvalidLink(failure)) return <InvalidInvitation />;
  if (data === null) return failure ? <Failure failure={failure} onRetry={reload} /> : <Loading />;
  return user.value === null ? (
    <SignedOutInvitee invitation={data} />
  ) : (
    <SignedInInvitee key={user.value.id} token={token} invitation={data} user={user.value} />
  );
}

function InvalidInvitation() {
  useEffect(dropInvitation, []);
  return (
    <FailedOutcome title="This invitation does not work" to="/" action="Go to home page">
      It was already accepted, withdrawn or replaced, or is older than 7 days. Ask the person who invited you for a new
      one.
    </FailedOutcome>
  );
}

const ROLES = { owner: "an owner", admin: "an admin", member: "a member", viewer: "a viewer" } as const;

/** Inviter, workspace and role. Names are user input, so each is isolated from the text direction around it. */
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

/** Shows the address beside the name, because a name can be any text. */
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

function SignedOutInvitee({ invitation }: { invitation: OpenInvitation }) {
  return (
    <Card title="You are invited to a workspace">
      <Terms invitation={invitation} />
      <p class={css.terms}>
        Create an account for <strong>{invitation.email}</strong>, or sign in to the one that you have, to accept.
      </p>
      <Row>
        <ContinueLink to={withNext("/auth/sign-up", HERE)}>Create account</ContinueLink>
        <ContinueLink to={withNext("/login", HERE)} plain>
          Sign in
        </ContinueLink>
      </Row>
    </Card>
  );
}

function SignedInInvitee({ token, invitation, user }: { token: string; invitation: OpenInvitation; user: StoredUser }) {
  const { route } = useLocation();
  const { run, busy, failure } = useAction(async () => {
    const body = { token, confirmAddress: true };
    const { data } = await authorized<Workspace>("/invitations/accept", { body });
    dropInvitation();
    await updateUser({ ...user, emailVerified: true });
    await loadWorkspaces();
    toast(`Joined ${data.name}.`);
    route(`/w/${data.id}`, true);
  });
  const wait = useWait(failure);
  if (isInvalidLink(failure)) return <InvalidInvitation />;
  const isAnothers = invitation.email !== user.email || failure?.code === "FORBIDDEN";
  return (
    <Card title="You are invited to a workspace">
      <Terms invitation={invitation} />
      {isAnothers ? (
        <Note tone="warn">
          <strong>This invitation is not for {user.email}.</strong>
          <span>Sign in as {invitation.email} or create an account.</span>
        </Note>
      ) : (
        <p class={css.terms}>
          You are signed in as <strong>{user.email}</strong>. Accept with this account?
          {user.emailVerified === false ? " Accepting also confirms this address." : ""}
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
