import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { request } from "../../api/request.ts";
import { fieldError, useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { nextPath, withNext } from "../../session/next-path.ts";
import { type SignedIn, signIn } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Page } from "../../ui/page.tsx";
import { toast } from "../../ui/toasts.tsx";
import css from "./auth.module.css";
import { confirmationWasSent } from "./confirmation.tsx";
import { keptInvitation } from "./invitation-token.ts";
import { useInvitedEmail } from "./invited-email.ts";
import { rememberNext, useLeaveWhenSignedIn } from "./next.ts";
import { EmailField, FormProblem, Note, PasswordField } from "./parts.tsx";
import { ProviderChoices } from "./provider-choices.tsx";
import { configuredProviders } from "./providers.ts";

/** Creates an account with its personal workspace, and continues. */
export function SignUp() {
  const next = nextPath(useLocation().query);
  const [then, setThen] = useState(next);
  useLeaveWhenSignedIn(then);
  return (
    <Page title="Create an account" narrow>
      <SignUpForm next={next} onMade={setThen} />
      <p class={css.foot}>
        Have an account? <a href={withNext("/login", next)}>Sign in</a>
      </p>
    </Page>
  );
}

type Registered = SignedIn & { emailVerified?: true; personalWorkspace: { id: string } };

interface SignUpFormProps {
  next: string;
  /** Called before the user is signed in, with the path to continue at. */
  onMade: (then: string) => void;
}

function SignUpForm({ next, onMade }: SignUpFormProps) {
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
    const then = next === "/" ? `/w/${data.personalWorkspace.id}/start` : next;
    onMade(then);
    // The link of the mail leads back to the same page.
    rememberNext(then);
    confirmationWasSent();
    if (next !== "/") toast(`Account created. Confirm your address: open the link sent to ${data.user.email}.`);
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
