import { useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { deviceTokenOf } from "../../session/devices.ts";
import { nextPath, withNext } from "../../session/next-path.ts";
import { endedBecause, type SignedIn, signIn } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Card, Page } from "../../ui/page.tsx";
import css from "./auth.module.css";
import { useInvitedEmail } from "./invited-email.ts";
import { rememberNext, useLeaveWhenSignedIn } from "./next.ts";
import { EmailField, FormProblem, Note, Outcome, PasswordField } from "./parts.tsx";
import { ProviderChoices } from "./provider-choices.tsx";
import { SendAgain } from "./send-again.tsx";

/** Signs in by password, by a mailed link or through a provider. */
export function Login() {
  const next = nextPath(useLocation().query);
  const [mailedTo, setMailedTo] = useState<string | null>(null);
  useLeaveWhenSignedIn(next);
  return (
    <Page title="Sign in" narrow>
      {endedBecause.value === null ? null : <Note tone="warn">{endedBecause.value}</Note>}
      {mailedTo === null ? (
        <SignInForm next={next} onMailed={setMailedTo} />
      ) : (
        <LinkSent email={mailedTo} onBack={() => setMailedTo(null)} />
      )}
      <p class={css.foot}>
        New here? <a href={withNext("/auth/sign-up", next)}>Create account</a>
      </p>
    </Page>
  );
}

function SignInForm({ next, onMailed }: { next: string; onMailed: (email: string) => void }) {
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  const form = useRef<HTMLFormElement>(null);
  useInvitedEmail(next, setEmail);
  const signingIn = useAction(async () => {
    const deviceToken = await deviceTokenOf(email);
    const body = { email, password, ...(deviceToken === null ? {} : { deviceToken }) };
    const { data } = await request<SignedIn>("/auth/login", { body });
    await signIn(data);
  });
  const mailing = useAction(async () => {
    await mailLink(email);
    // The link opens another tab, which continues with the page of this one.
    rememberNext(next);
    onMailed(email.trim());
  });
  const failure = signingIn.failure ?? mailing.failure;
  const wait = useWait(failure);
  const isBusy = signingIn.busy || mailing.busy;
  return (
    <Card>
      <form
        ref={form}
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          mailing.clear();
          if (wait === 0) void signingIn.run();
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
        <PasswordField
          label="Password"
          name="password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
          failure={failure}
        />
        <a class={css.end} href={withNext("/auth/forgot", next)}>
          Forgot password?
        </a>
        <FormProblem failure={failure} fields={["email", "password"]} />
        <Button type="submit" look="primary" busy={signingIn.busy} disabled={isBusy || wait > 0}>
          Sign in
        </Button>
      </form>
      <div class={css.or}>or without a password</div>
      <div class={css.choices}>
        <Button
          busy={mailing.busy}
          disabled={isBusy || wait > 0}
          onClick={() => {
            signingIn.clear();
            // Only the address is needed. Its field shows what is wrong with it.
            const field = form.current?.elements.namedItem("email");
            if (field instanceof HTMLInputElement && field.reportValidity()) void mailing.run();
          }}
        >
          Mail me a sign-in link
        </Button>
        <ProviderChoices next={next} />
      </div>
    </Card>
  );
}

function LinkSent({ email, onBack }: { email: string; onBack: () => void }) {
  const [sentAt] = useState(Date.now);
  return (
    <Outcome title="Check your e-mail">
      <p>
        If <strong>{email}</strong> exists, we sent a sign-in link. It works once, for 10 minutes. Without an account,
        using the link creates one.
      </p>
      <SendAgain send={() => mailLink(email)} sentAt={sentAt}>
        <Button look="quiet" onClick={onBack}>
          Sign in another way
        </Button>
      </SendAgain>
    </Outcome>
  );
}

async function mailLink(email: string): Promise<void> {
  await request("/auth/magic-link", { body: { email } });
}
