import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { loadProfile } from "../../model/account.ts";
import { user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { DeadEnd, isDead, mailedLinkPage } from "./mailed-link.tsx";
import { takeNext } from "./next.ts";
import { GoOn, Outcome } from "./parts.tsx";

type Stage = "asking" | "sure?" | "confirmed" | "rejected";

/** Confirms the address that a mail came to, or says that somebody else registered it. */
export const Verify = mailedLinkPage("/auth/verify", "Confirm your e-mail address", ({ token }) => {
  const [stage, setStage] = useState<Stage>("asking");
  const confirming = useAction(async () => {
    await request("/auth/verify-email", { body: { token } });
    setStage("confirmed");
    // Whoever is signed in here need not be who the link is for.
    if (user.peek() !== null) await loadProfile().catch(() => undefined);
  });
  const rejecting = useAction(async () => {
    await request("/auth/verify-email/reject", { body: { token } });
    setStage("rejected");
  });
  const failure = confirming.failure ?? rejecting.failure;
  const wait = useWait(failure);
  if (isDead(failure)) return <Dead message={failure?.message ?? ""} />;
  switch (stage) {
    case "asking":
      return (
        <Card>
          <p>An account was made with this address. Is it yours?</p>
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
        <Outcome title="Was it not you?">
          <p>
            Then somebody else registered your address. All that was set up with it goes: the password, linked
            providers, sessions, mailed links and API keys. The address is not confirmed.
          </p>
          <Row>
            <Button look="danger" busy={rejecting.busy} disabled={wait > 0} onClick={() => rejecting.run()}>
              Remove all of it
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
        <Outcome title="Thank you">
          <p>Whatever was set up with your address has been removed. You can close this page.</p>
        </Outcome>
      );
  }
});

function Confirmed() {
  const [next] = useState(takeNext);
  return (
    <Outcome title="Your address is confirmed">
      {user.value === null ? (
        <>
          <p>Sign in, and begin.</p>
          <div>
            <GoOn to={`/login?next=${encodeURIComponent(next)}`}>Sign in</GoOn>
          </div>
        </>
      ) : (
        <>
          <p>
            You are signed in as <strong>{user.value.email}</strong>.
          </p>
          <div>
            <GoOn to={next}>Go on</GoOn>
          </div>
        </>
      )}
    </Outcome>
  );
}

function Dead({ message }: { message: string }) {
  if (user.value?.emailVerified) {
    return (
      <DeadEnd title="Nothing left to confirm" to="/" action="Go on">
        The address of your account, {user.value.email}, is confirmed already.
      </DeadEnd>
    );
  }
  return (
    <DeadEnd title="This link does not work" to="/auth/account" action="Go to your account">
      {message} If you have confirmed the address before, all is well. Otherwise your account page sends you a new link.
    </DeadEnd>
  );
}
