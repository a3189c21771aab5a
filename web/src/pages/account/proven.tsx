import { useState } from "preact/hooks";
import { ApiFailure } from "../../api/failure.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import type { Methods } from "../../model/account.ts";
import type { StoredUser } from "../../session/stored.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Row } from "../../ui/page.tsx";
import { PasswordField, Refused } from "../auth/parts.tsx";
import { SignInAgain } from "./sign-in-again.tsx";
import { wrongPasswordAt } from "./wrong-password.ts";

/** What a request sends to show whose it is. */
export interface Shown {
  password?: string;
}

export interface Proven {
  /** Does it; asks first where the service wants to know whose the session is. */
  run: () => Promise<void>;
  runWith: (password: string) => Promise<void>;
  busy: boolean;
  failure: ApiFailure | null;
  isAsking: boolean;
  stopAsking: () => void;
}

/** Something that takes a sign-in of the last 10 minutes, or the password. */
export function useProven(act: (shown: Shown) => Promise<void>): Proven {
  const [isAsking, setIsAsking] = useState(false);
  const { run, busy, failure, clear } = useAction(async (shown: Shown) => {
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

interface ProveDialogProps {
  proven: Proven;
  user: StoredUser;
  methods: Methods;
  /** Where a new sign-in goes on: the page that opens the same step again. */
  next: string;
}

/** Asks whose session it is: for the password, or for a sign-in anew. Then it goes on where it was. */
export function ProveDialog({ proven, user, methods, next }: ProveDialogProps) {
  const [password, setPassword] = useState("");
  const wait = useWait(proven.failure);
  const shown = wrongPasswordAt("password", proven.failure);
  return (
    <Dialog title="Confirm that it is you" onClose={proven.stopAsking} closeOnBackdrop={false}>
      <p>You signed in more than 10 minutes ago. Changing how your account is signed in to takes a little more.</p>
      {methods.hasPassword ? (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault();
            if (wait === 0) void proven.runWith(password);
          }}
        >
          {/* For password managers: whose password it is. */}
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
          <Refused failure={shown} fields={["password"]} />
          <Row>
            <Button type="submit" look="primary" busy={proven.busy} disabled={wait > 0}>
              Go on
            </Button>
            <Button onClick={proven.stopAsking}>Cancel</Button>
          </Row>
        </form>
      ) : null}
      <SignInAgain user={user} methods={methods} next={next}>
        {methods.hasPassword ? "Or sign in again, and go on here:" : "Sign in again, and go on here:"}
      </SignInAgain>
    </Dialog>
  );
}
