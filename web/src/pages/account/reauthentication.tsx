import { useState } from "preact/hooks";
import { ApiFailure } from "../../api/failure.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import type { Methods } from "../../model/account.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Row } from "../../ui/page.tsx";
import { FormProblem, PasswordField } from "../auth/parts.tsx";
import { SignInAgain } from "./sign-in-again.tsx";
import { wrongPasswordAt } from "./wrong-password.ts";

/** Members of a request body that reauthenticate. */
export interface ReauthenticationBody {
  password?: string;
}

export interface Reauthentication {
  /** Runs the action. Opens the dialog if the service requires reauthentication. */
  run: () => Promise<void>;
  runWith: (password: string) => Promise<void>;
  busy: boolean;
  failure: ApiFailure | null;
  isAsking: boolean;
  stopAsking: () => void;
}

/** An action that requires a sign-in of the last 10 minutes or the password. */
export function useReauthentication(act: (shown: ReauthenticationBody) => Promise<void>): Reauthentication {
  const [isAsking, setIsAsking] = useState(false);
  const { run, busy, failure, clear } = useAction(async (shown: ReauthenticationBody) => {
    try {
      await act(shown);
      setIsAsking(false);
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== "REAUTHENTICATION_REQUIRED") throw error;
      setIsAsking(true);
    }
  });
  return {
    run: () => run({}),
    runWith: (password) => run({ password }),
    busy,
    failure,
    isAsking,
    stopAsking: () => {
      clear();
      setIsAsking(false);
    },
  };
}

interface ReauthenticationDialogProps {
  reauthentication: Reauthentication;
  user: StoredUser;
  methods: Methods;
  /** Where a new sign-in continues: the page that opens the same step again. */
  next: string;
}

/** Asks for the password or for a new sign-in, then continues the action. */
export function ReauthenticationDialog({ reauthentication, user, methods, next }: ReauthenticationDialogProps) {
  const [password, setPassword] = useState("");
  const wait = useWait(reauthentication.failure);
  const shown = wrongPasswordAt("password", reauthentication.failure);
  return (
    <Dialog title="Confirm your identity" onClose={reauthentication.stopAsking} closeOnBackdrop={false}>
      <p>You signed in more than 10 minutes ago. Confirm your identity to change sign-in methods.</p>
      {methods.hasPassword ? (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (wait === 0) void reauthentication.runWith(password);
          }}
        >
          {/* Identifies the account for password managers. */}
          <input type="email" name="email" autocomplete="username" value={user.email} readOnly hidden />
          <PasswordField
            label="Password"
            name="password"
            autocomplete="current-password"
            autofocus
            value={password}
            onValue={setPassword}
            failure={shown}
          />
          <FormProblem failure={shown} fields={["password"]} />
          <Row>
            <Button type="submit" look="primary" busy={reauthentication.busy} disabled={wait > 0}>
              Continue
            </Button>
            <Button onClick={reauthentication.stopAsking}>Cancel</Button>
          </Row>
        </form>
      ) : null}
      <SignInAgain user={user} methods={methods} next={next}>
        {methods.hasPassword ? "Or sign in again to continue:" : "Sign in again to continue:"}
      </SignInAgain>
    </Dialog>
  );
}
