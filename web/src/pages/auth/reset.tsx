import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { withNext } from "../../session/next-path.ts";
import { authorized, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import css from "./auth.module.css";
import { FailedOutcome, isInvalidLink, mailedLinkPage } from "./mailed-link.tsx";
import { rememberedNext, takeNext } from "./next.ts";
import { ContinueLink, FormProblem, Outcome, PasswordField } from "./parts.tsx";

/** Sets a new password with a mailed link. */
export const Reset = mailedLinkPage("/auth/reset", "Set a new password", ({ token }) => {
  const [password, setPassword] = useState("");
  /** The path to continue at; `null` until the password is set. */
  const [next, setNext] = useState<string | null>(null);
  const { run, busy, failure } = useAction(async () => {
    await request("/auth/reset-password", { body: { token, password } });
    // The reset has ended every session of the account, most likely including the one in this browser.
    if (user.peek() !== null) await authorized("/auth/me").catch(() => undefined);
    setNext(takeNext());
  });
  const wait = useWait(failure);
  if (next !== null) {
    return (
      <Outcome title="Password saved">
        <p>All sessions of your account ended. Sign in with the new password.</p>
        <Row>
          <ContinueLink to={withNext("/login", next)}>Sign in</ContinueLink>
          <ContinueLink to={withNext("/login", "/auth/review")} plain>
            Review account
          </ContinueLink>
        </Row>
        <p class={css.quiet}>
          Someone else had access? After signing in, review and undo what was added in the last 30 days, including
          providers and API keys.
        </p>
      </Outcome>
    );
  }
  if (isInvalidLink(failure)) {
    return (
      <FailedOutcome
        title="This link does not work"
        to={withNext("/auth/forgot", rememberedNext())}
        action="Get a new link"
      >
        {failure?.message}
      </FailedOutcome>
    );
  }
  return (
    <Card>
      <p>Setting a new password ends all sessions of your account.</p>
      <form
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (wait === 0) void run();
        }}
      >
        <PasswordField
          label="New password"
          name="password"
          autocomplete="new-password"
          isNew
          value={password}
          onValue={setPassword}
          failure={failure}
        />
        <FormProblem failure={failure} fields={["password"]} />
        <Button type="submit" look="primary" busy={busy} disabled={wait > 0}>
          Set password
        </Button>
      </form>
    </Card>
  );
});
