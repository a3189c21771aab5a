import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { type SignedIn, signIn, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { DeadEnd, isDead, mailedLinkPage } from "./mailed-link.tsx";
import { takeNext } from "./next.ts";

/** Signs in with a mailed link. On a click only: what merely follows the links of a mail must not use them up. */
export const Magic = mailedLinkPage("/auth/magic", "Sign in", ({ token }) => {
  const { route } = useLocation();
  const { run, busy, failure } = useAction(async () => {
    const { data } = await request<SignedIn & { isNewUser: boolean }>("/auth/magic-link/verify", { body: { token } });
    // The mail has come to the address.
    await signIn({ ...data, user: { ...data.user, emailVerified: true } });
    toast(`${data.isNewUser ? "Welcome! Your account is made" : "You are signed in"}: ${data.user.email}`);
    route(takeNext(), true);
  });
  const wait = useWait(failure);
  if (isDead(failure)) {
    return (
      <DeadEnd title="This link does not work" to="/login" action="Get another link">
        {failure?.message}
      </DeadEnd>
    );
  }
  return (
    <Card>
      <p>You are one click away from being signed in.</p>
      {user.value === null ? null : (
        <p>
          At the moment you are signed in as <strong>{user.value.email}</strong>. That session ends.
        </p>
      )}
      <Row>
        <Button look="primary" busy={busy} disabled={wait > 0} onClick={() => run()}>
          Sign in
        </Button>
      </Row>
      <Problem failure={failure} />
    </Card>
  );
});
