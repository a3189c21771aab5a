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
import { keptInvitation } from "./invitation-token.ts";
import { useInvitedEmail } from "./invited-email.ts";
import { rememberNext, useLeaveWhenSignedIn } from "./next.ts";
import { ContinueLink, EmailField, FormProblem, Note, Outcome, PasswordField } from "./parts.tsx";
import { ProviderChoices } from "./provider-choices.tsx";
import { configuredProviders } from "./providers.ts";
import { SendAgain } from "./send-again.tsx";

interface MadeAccount {
  email: string;
  /** Path to continue at: where the visitor came from, otherwise the first entry of the personal workspace. */
  next: string;
}

/** Creates an account with its personal workspace. */
export function SignUp() {
  const next = nextPath(useLocation().query);
  const [made, setMade] = useState<MadeAccount | null>(null);
  useLeaveWhenSignedIn(next, made !== null);
  return (
    <Page title={made === null ? "Create an account" : "Account created"} narrow>
      {made === null ? (
        <>
          <SignUpForm next={next} onMade={setMade} />
          <p class={css.foot}>
            Have an account? <a href={withNext("/login", next)}>Sign in</a>
          </p>
        </>
      ) : (
        <Made {...made} />
      )}
    </Page>
  );
}

type Registered = SignedIn & { emailVerified?: true; personalWorkspace: { id: string } };

function SignUpForm({ next, onMade }: { next: string; onMade: (account: MadeAccount) => void }) {
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
    const { data } = await request<Registered>("/auth/register", { body });
    if (data.emailVerified) {
      // The invitation was mailed to this address, so the address is confirmed and the page continues.
      toast(`Welcome! Account created for ${data.user.email}`);
      await signIn({ ...data, user: { ...data.user, emailVerified: true } });
      return;
    }
    // Set before signing in: otherwise `useGoOn` would leave the page.
    const then = next === "/" ? `/w/${data.personalWorkspace.id}/start` : next;
    onMade({ email: data.user.email, next: then });
    rememberNext(then);
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
        <Field label="Name" hint="Optional. Names your personal workspace." error={fieldError(failure, "name")}>
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
            <strong>This address already has an account.</strong>
            <span>
              <a href={withNext("/login", next)}>Sign in</a>, or{" "}
              <a href={withNext("/auth/forgot", next)}>set a new password</a>.
            </span>
          </Note>
        ) : (
          <FormProblem failure={failure} fields={["name", "email", "password"]} />
        )}
        <Button type="submit" look="primary" busy={busy} disabled={wait > 0}>
          Create account
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

function Made({ email, next }: MadeAccount) {
  const isConfirmed = user.value?.emailVerified === true;
  return isConfirmed ? (
    <Outcome title="Address confirmed">
      <p>Your account is ready.</p>
      <ContinueLink to={next}>Continue</ContinueLink>
    </Outcome>
  ) : (
    <Outcome title="Confirm your e-mail address">
      <p>
        You are signed in. We sent a link to <strong>{email}</strong>. Open it within 24 hours to confirm the address.
      </p>
      <p class={css.quiet}>
        You can start right away. Shared workspaces, invitations and provider sign-in require a confirmed address.
      </p>
      <div>
        <ContinueLink to={next}>Continue</ContinueLink>
      </div>
      <ResendConfirmation sentNow />
    </Outcome>
  );
}

/** Requests another mail to confirm the signed-in user's address. */
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
