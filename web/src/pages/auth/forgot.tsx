import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { nextPath, withNext } from "../../session/next-path.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import css from "./auth.module.css";
import { rememberNext } from "./next.ts";
import { EmailField, Outcome } from "./parts.tsx";
import { SendAgain } from "./send-again.tsx";

/** Requests a link to set a new password. */
export function Forgot() {
  const next = nextPath(useLocation().query);
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  return (
    <Page title="Set a new password" narrow>
      {mailedTo === null ? (
        <ForgotForm
          onMailed={(email) => {
            // The link opens another tab, which continues with the page of this one after the new password is set.
            rememberNext(next);
            setMailedTo(email);
          }}
        />
      ) : (
        <ResetSent email={mailedTo} />
      )}
      <p class={css.foot}>
        <a href={withNext("/login", next)}>Back to the sign-in page</a>
      </p>
    </Page>
  );
}

function ForgotForm({ onMailed }: { onMailed: (email: string) => void }) {
  const [email, setEmail] = useState("");
  const { run, busy, failure } = useAction(async () => {
    await mailReset(email);
    onMailed(email.trim());
  });
  const wait = useWait(failure);
  return (
    <Card>
      <p>Enter your account's address to get a link for a new password.</p>
      <form
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (wait === 0) void run();
        }}
      >
        <EmailField
          label="E-mail address"
          name="email"
          autocomplete="username"
          value={email}
          onValue={setEmail}
          failure={failure}
        />
        <Problem failure={failure} fields={["email"]} />
        <Button type="submit" look="primary" busy={busy} disabled={wait > 0}>
          Mail me a link
        </Button>
      </form>
    </Card>
  );
}

function ResetSent({ email }: { email: string }) {
  const [sentAt] = useState(Date.now);
  return (
    <Outcome title="Check your e-mail">
      <p>
        If an account exists for <strong>{email}</strong>, we sent a link to set a new password. It works once, for an
        hour.
      </p>
      <SendAgain send={() => mailReset(email)} sentAt={sentAt} />
    </Outcome>
  );
}

async function mailReset(email: string): Promise<void> {
  await request("/auth/forgot-password", { body: { email } });
}
