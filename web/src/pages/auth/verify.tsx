import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { loadProfile } from "../../model/account.ts";
import { user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { FailedOutcome, isInvalidLink, mailedLinkPage } from "./mailed-link.tsx";
import { takeNext } from "./next.ts";
import { ContinueLink, Outcome } from "./parts.tsx";

type Stage = "asking" | "sure?" | "confirmed" | "rejected";

/** Confirms the address that the mail was sent to, or rejects the registration. */
export const Verify = mailedLinkPage("/auth/verify", "Confirm your e-mail address", ({ token }) => {
  const [stage, setStage] = useState<Stage>("asking");
  const confirming = useAction(async () => {
    await request("/auth/verify-email", { body: { token } });
    setStage("confirmed");
    // The signed-in user may be another one than the link's.
    if (user.peek() !== null) await loadProfile().catch(() => undefined);
  });
  const rejecting = useAction(async () => {
    await request("/auth/verify-email/reject", { body: { token } });
    setStage("rejected");
  });
  const failure = confirming.failure ?? rejecting.failure;
  const wait = useWait(failure);
  if (isInvalidLink(failure)) return <InvalidConfirmationLink message={failure?.message ?? ""} />;
  switch (stage) {
    case "asking":
      return (
        <Card>
          <p>Someone created an account with this address. Was it you?</p>
          <Row>
            <Button look="primary" busy={confirming.busy} disabled={wait > 0} onClick={() => confirming.run()}>
              Yes, confirm the address
            </Button>
            <Button disabled={confirming.busy} onClick={() => setStage("sure?")}>
              This was not me
            </Button>
          </Row>
          <Problem failure={confirming.failure} />
        </Card>
      );
    case "sure?":
      return (
        <Outcome title="Remove this registration?">
          <p>
            Someone else registered your address. This removes everything that was set up with it: the password, linked
            providers, sessions, mailed links and API keys. The address stays unconfirmed.
          </p>
          <Row>
            <Button look="danger" busy={rejecting.busy} disabled={wait > 0} onClick={() => rejecting.run()}>
              Remove registration
            </Button>
            <Button disabled={rejecting.busy} onClick={() => setStage("asking")}>
              Back
            </Button>
          </Row>
          <Problem failure={rejecting.failure} />
        </Outcome>
      );
    case "confirmed":
      return <Confirmed />;
    case "rejected":
      return (
        <Outcome title="Registration removed">
          <p>Everything set up with your address was removed. You can close this page.</p>
        </Outcome>
      );
  }
});

function Confirmed() {
  const [next] = useState(takeNext);
  return (
    <Outcome title="Address confirmed">
      {user.value === null ? (
        <>
          <p>Sign in to start.</p>
          <div>
            <ContinueLink to={`/login?next=${encodeURIComponent(next)}`}>Sign in</ContinueLink>
          </div>
        </>
      ) : (
        <>
          <p>
            You are signed in as <strong>{user.value.email}</strong>.
          </p>
          <div>
            <ContinueLink to={next}>Continue</ContinueLink>
          </div>
        </>
      )}
    </Outcome>
  );
}

function InvalidConfirmationLink({ message }: { message: string }) {
  if (user.value?.emailVerified) {
    return (
      <FailedOutcome title="Nothing left to confirm" to="/" action="Continue">
        {user.value.email} is already confirmed.
      </FailedOutcome>
    );
  }
  return (
    <FailedOutcome title="This link does not work" to="/auth/account" action="Go to account">
      {message} If the address is not confirmed yet, request a new link on the account page.
    </FailedOutcome>
  );
}
