import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { withNext } from "../../session/next-path.ts";
import { type SignedIn, signIn, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { toast } from "../../ui/toasts.tsx";
import { FailedOutcome, isInvalidLink, mailedLinkPage } from "./mailed-link.tsx";
import { rememberedNext, takeNext } from "./next.ts";

/** Signs in with a mailed link. Requires a click, because mail scanners open links and would use them up. */
export const Magic = mailedLinkPage("/auth/magic", "Sign in", ({ token }) => {
  const { route } = useLocation();
  const { run, busy, failure } = useAction(async () => {
    const { data } = await request<SignedIn & { isNewUser: boolean }>("/auth/magic-link/verify", { body: { token } });
    // Opening the mailed link confirms the address.
    await signIn({ ...data, user: { ...data.user, emailVerified: true } });
    toast(`${data.isNewUser ? "Welcome! Account created for" : "Signed in as"} ${data.user.email}`);
    route(takeNext(), true);
  });
  const wait = useWait(failure);
  if (isInvalidLink(failure)) {
    return (
      <FailedOutcome title="This link does not work" to={withNext("/login", rememberedNext())} action="Get a new link">
        {failure?.message}
      </FailedOutcome>
    );
  }
  return (
    <Card>
      <p>Click the button to sign in.</p>
      {user.value === null ? null : (
        <p>
          This ends your current session as <strong>{user.value.email}</strong>.
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
