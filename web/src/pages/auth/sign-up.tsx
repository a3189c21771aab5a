import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { fieldError, useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { nextPath, withNext } from "../../session/next-path.ts";
import { authorized, type SignedIn, signIn, user } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toasts.tsx";
import css from "./auth.module.css";
import { ProviderChoices } from "./choices.tsx";
import { keptInvitation } from "./invitation-token.ts";
import { useInvitedEmail } from "./invited-email.ts";
import { rememberNext, useGoOn } from "./next.ts";
import { EmailField, GoOn, Note, Outcome, PasswordField, Refused } from "./parts.tsx";
import { configuredProviders } from "./providers.ts";
import { SendAgain } from "./sent.tsx";

/** Makes an account with its personal workspace. */
export function SignUp() {
  const next = nextPath(useLocation().query);
  const [madeFor, setMadeFor] = useState<string | null>(null);
  useGoOn(next, madeFor !== null);
  return (
    <Page title={madeFor === null ? "Make an account" : "Your account is made"} narrow>
      {madeFor === null ? (
        <>
          <SignUpForm next={next} onMade={setMadeFor} />
          <p class={css.foot}>
            Have an account? <a href={withNext("/login", next)}>Sign in</a>
          </p>
        </>
      ) : (
        <Made email={madeFor} next={next} />
      )}
    </Page>
  );
}

function SignUpForm({ next, onMade }: { next: string; onMade: (email: string) => void }) {
  const [name, setName] = useState("");
  const [email, setEmail] = useState("");
  const [password, setPassword] = useState("");
  useInvitedEmail(next, setEmail);
  const { run, busy, failure } = useAction(async () => {
    const invitation = keptInvitation();
    const body = {
      email,
      password,
      ...(name.trim() === "" ? {} : { name: name.trim() }),
      ...(invitation === null ? {} : { invitation }),
    };
    const { data } = await request<SignedIn & { emailVerified?: true }>("/auth/register", { body });
    if (data.emailVerified) {
      // The invitation came by mail to this very address: nothing is left to confirm, and the page goes on.
      toast(`Welcome! Your account is made: ${data.user.email}`);
      await signIn({ ...data, user: { ...data.user, emailVerified: true } });
      return;
    }
    // First: once somebody is signed in, the page would go on.
    onMade(data.user.email);
    rememberNext(next);
    await signIn({ ...data, user: { ...data.user, emailVerified: false } });
  });
  const wait = useWait(failure);
  const isTaken = failure?.code === "EMAIL_ALREADY_EXISTS";
  return (
    <Card>
      <form
        class={css.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (wait === 0) void run();
        }}
      >
        <Field
          label="Name"
          hint="Optional. Your personal workspace is named after it."
          error={fieldError(failure, "name")}
        >
          {(props) => (
            <input
              {...props}
              name="name"
              autocomplete="name"
              value={name}
              onInput={(event) => setName(event.currentTarget.value)}
            />
          )}
        </Field>
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
          autocomplete="new-password"
          isNew
          value={password}
          onValue={setPassword}
          failure={failure}
        />
        {isTaken ? (
          <Note tone="warn">
            <strong>This address has an account already.</strong>
            <span>
              <a href={withNext("/login", next)}>Sign in</a>, or{" "}
              <a href={withNext("/auth/forgot", next)}>set a new password</a>.
            </span>
          </Note>
        ) : (
          <Refused failure={failure} fields={["name", "email", "password"]} />
        )}
        <Button type="submit" look="primary" busy={busy} disabled={wait > 0}>
          Make the account
        </Button>
      </form>
      {configuredProviders().length === 0 ? null : (
        <>
          <div class={css.or}>or without a password</div>
          <div class={css.choices}>
            <ProviderChoices next={next} />
          </div>
        </>
      )}
    </Card>
  );
}

function Made({ email, next }: { email: string; next: string }) {
  const isConfirmed = user.value?.emailVerified === true;
  return isConfirmed ? (
    <Outcome title="Your address is confirmed">
      <p>Your account is ready.</p>
      <GoOn to={next}>Go on</GoOn>
    </Outcome>
  ) : (
    <Outcome title="Confirm your e-mail address">
      <p>
        You are signed in. We sent a link to <strong>{email}</strong>: open it to confirm that the address is yours. It
        works for 24 hours.
      </p>
      <p class={css.quiet}>
        You can begin right away. Shared workspaces, invitations and signing in through a provider need a confirmed
        address.
      </p>
      <div>
        <GoOn to={next}>Go on</GoOn>
      </div>
      <ResendConfirmation sentNow />
    </Outcome>
  );
}

/** Another mail to confirm the address of whoever is signed in. */
export function ResendConfirmation({ sentNow = false }: { sentNow?: boolean }) {
  const [sentAt] = useState(() => (sentNow ? Date.now() : null));
  return (
    <SendAgain
      label={sentNow ? "Send it again" : "Send me a link"}
      sentAt={sentAt}
      send={async () => {
        await authorized("/auth/verify-email/resend", { method: "POST" });
      }}
    />
  );
}
