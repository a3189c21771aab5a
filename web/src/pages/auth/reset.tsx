import { useState } from "preact/hooks";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { withNext } from "../../session/next-path.ts";
import { authorized, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Row } from "../../ui/page.tsx";
import css from "./auth.module.css";
import { DeadEnd, isDead, mailedLinkPage } from "./mailed-link.tsx";
import { takeNext } from "./next.ts";
import { GoOn, Outcome, PasswordField, Refused } from "./parts.tsx";

/** Sets a new password with a mailed link. */
export const Reset = mailedLinkPage("/auth/reset", "Set a new password", ({ token }) => {
  const [password, setPassword] = useState("");
  /** Where to go on; null until the password is set. */
  const [next, setNext] = useState<string | null>(null);
  const { run, busy, failure } = useAction(async () => {
    await request("/auth/reset-password", { body: { token, password } });
    // If somebody is signed in here, it is most likely to this account: then that has just ended.
    if (user.peek() !== null) await authorized("/auth/me").catch(() => undefined);
    setNext(takeNext());
  });
  const wait = useWait(failure);
  if (next !== null) {
    return (
      <Outcome title="Your new password is set">
        <p>Every session of your account was ended. Sign in with the new password.</p>
        <Row>
          <GoOn to={withNext("/login", next)}>Sign in</GoOn>
          <GoOn to={withNext("/login", "/auth/review")} plain>
            Review the account
          </GoOn>
        </Row>
        <p class={css.quiet}>
          Was somebody else in your account? Once you are signed in, the review shows what was added to it in the last
          30 days, providers and API keys, and takes it back.
        </p>
      </Outcome>
    );
  }
  if (isDead(failure)) {
    return (
      <DeadEnd title="This link does not work" to="/auth/forgot" action="Get another link">
        {failure?.message}
      </DeadEnd>
    );
  }
  return (
    <Card>
      <p>It ends every session of your account. Then you sign in with the new password.</p>
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
        <Refused failure={failure} fields={["password"]} />
        <Button type="submit" look="primary" busy={busy} disabled={wait > 0}>
          Set the password
        </Button>
      </form>
    </Card>
  );
});
