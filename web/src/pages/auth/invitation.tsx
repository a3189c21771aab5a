import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import type { Workspace } from "../../model/types.ts";
import { loadWorkspaces } from "../../model/workspaces.ts";
import { forgetGiven, given } from "../../session/address.ts";
import { authorized, signOut, user } from "../../session/session.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { dropInvitation, keepInvitation, keptInvitation } from "./invitation-token.ts";
import { DeadEnd, isDead } from "./mailed-link.tsx";
import { GoOn, Note } from "./parts.tsx";
import { ResendConfirmation } from "./sign-up.tsx";

const HERE = "?next=%2Fauth%2Finvitation";

/** Accepts the invitation to a workspace, which takes an account of the very address that was invited. */
export function Invitation() {
  const fromLink = given.value.token;
  const [token, setToken] = useState(() => fromLink ?? keptInvitation());
  useEffect(() => {
    if (fromLink === undefined) return;
    keepInvitation(fromLink);
    setToken(fromLink);
  }, [fromLink]);
  useEffect(() => forgetGiven, []);
  return (
    <Page title="Invitation" narrow>
      {token === null ? (
        <DeadEnd title="No invitation is open" to="/" action="Go to the start">
          Open the link from the mail, and be sure to copy all of it. An invitation works once, for 7 days.
        </DeadEnd>
      ) : user.value === null ? (
        <Stranger />
      ) : (
        <Guest key={`${token} ${user.value.id}`} token={token} user={user.value} />
      )}
    </Page>
  );
}

function Stranger() {
  return (
    <Card title="You are invited to a workspace">
      <p>
        Sign in, or make an account, with the very address that the mail came to. Then you come back here and accept.
        The mail's link works for 7 days.
      </p>
      <Row>
        <GoOn to={`/login${HERE}`}>Sign in</GoOn>
        <GoOn to={`/auth/sign-up${HERE}`} plain>
          Make an account
        </GoOn>
      </Row>
    </Card>
  );
}

function Guest({ token, user }: { token: string; user: StoredUser }) {
  const { route } = useLocation();
  const { run, busy, failure, clear } = useAction(async () => {
    const { data } = await authorized<Workspace>("/invitations/accept", { body: { token } });
    dropInvitation();
    await loadWorkspaces();
    toast(`You are a member of ${data.name} now.`);
    route(`/w/${data.id}`, true);
  });
  const isOver = isDead(failure);
  useEffect(() => {
    if (isOver) dropInvitation();
  }, [isOver]);
  useEffect(() => {
    // Confirmed meanwhile, in the tab of the mail's link.
    if (user.emailVerified) clear();
  }, [user.emailVerified]);
  const wait = useWait(failure);
  if (isOver) {
    return (
      <DeadEnd title="This invitation does not work" to="/" action="Go to the start">
        It was accepted already, taken back or replaced, or is older than 7 days. Ask whoever invited you for a new one.
      </DeadEnd>
    );
  }
  const isUnverified = failure?.code === "EMAIL_NOT_VERIFIED";
  const isAnothers = failure?.code === "FORBIDDEN";
  return (
    <Card title="You are invited to a workspace">
      <p>
        You are signed in as <strong>{user.email}</strong>. Accept the invitation with this account?
      </p>
      {isUnverified ? (
        <Note tone="warn">
          <strong>Confirm your address first.</strong>
          <span>We mail a link to {user.email}. Open it, then accept here.</span>
        </Note>
      ) : null}
      {isAnothers ? (
        <Note tone="warn">
          <strong>The invitation is for another address than {user.email}.</strong>
          <span>Sign in, or make an account, with the address that the mail came to.</span>
        </Note>
      ) : null}
      <Row>
        <Button look={isAnothers ? "plain" : "primary"} busy={busy} disabled={wait > 0} onClick={() => run()}>
          Accept
        </Button>
        <Button
          look={isAnothers ? "primary" : "plain"}
          onClick={async () => {
            await signOut();
            route(`/login${HERE}`);
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
      {isUnverified ? <ResendConfirmation /> : null}
      {isUnverified || isAnothers ? null : <Problem failure={failure} />}
    </Card>
  );
}
