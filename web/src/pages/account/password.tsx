import { useState } from "preact/hooks";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import type { Methods } from "../../model/account.ts";
import { authorized } from "../../session/session.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Row } from "../../ui/page.tsx";
import { toast } from "../../ui/toasts.tsx";
import { FormProblem, PasswordField } from "../auth/parts.tsx";
import { SignInAgain } from "./sign-in-again.tsx";
import { pathOf } from "./steps.ts";
import { wrongPasswordAt } from "./wrong-password.ts";

interface PasswordDialogProps {
  user: StoredUser;
  methods: Methods;
  onClose: () => void;
  onDone: () => void;
}

/** Sets or changes the password. */
export function PasswordDialog({ user, methods, onClose, onDone }: PasswordDialogProps) {
  const { hasPassword } = methods;
  const [currentPassword, setCurrentPassword] = useState("");
  const [newPassword, setNewPassword] = useState("");
  const { run, busy, failure } = useAction(async () => {
    const body = { newPassword, ...(hasPassword ? { currentPassword } : {}) };
    await authorized("/auth/password", { method: "PUT", body });
    toast("Password saved. All other sessions ended.");
    onDone();
  });
  const wait = useWait(failure);
  if (failure?.code === "REAUTHENTICATION_REQUIRED") {
    return (
      <Dialog title="Confirm your identity" onClose={onClose} closeOnBackdrop={false}>
        <p>You signed in more than 10 minutes ago. Sign in again to set a password.</p>
        <SignInAgain user={user} methods={methods} next={pathOf("password")}>
          Sign in again to continue:
        </SignInAgain>
      </Dialog>
    );
  }
  return (
    <Dialog title={hasPassword ? "Change password" : "Set a password"} onClose={onClose} closeOnBackdrop={false}>
      <p>Ends all your other sessions and invalidates mailed links.</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (wait === 0) void run();
        }}
      >
        {/* Identifies the account for password managers. */}
        <input type="email" name="email" autocomplete="username" value={user.email} readOnly hidden />
        {hasPassword ? (
          <PasswordField
            label="Current password"
            name="currentPassword"
            autocomplete="current-password"
            autofocus
            value={currentPassword}
            onValue={setCurrentPassword}
            failure={wrongPasswordAt("currentPassword", failure)}
          />
        ) : null}
        <PasswordField
          label="New password"
          name="newPassword"
          autocomplete="new-password"
          isNew
          autofocus={!hasPassword}
          value={newPassword}
          onValue={setNewPassword}
          failure={failure}
        />
        <FormProblem
          failure={wrongPasswordAt("currentPassword", failure)}
          fields={["currentPassword", "newPassword"]}
        />
        <Row>
          <Button type="submit" look="primary" busy={busy} disabled={wait > 0}>
            Save password
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}
