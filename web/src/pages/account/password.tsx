import { useState } from "preact/hooks";
import { ApiFailure } from "../../api/failure.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { authorized } from "../../session/session.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Row } from "../../ui/page.tsx";
import { toast } from "../../ui/toasts.tsx";
import { PasswordField, Refused } from "../auth/parts.tsx";

interface PasswordDialogProps {
  email: string;
  hasPassword: boolean;
  onClose: () => void;
  onDone: () => void;
}

/** Sets the first password, or another one. */
export function PasswordDialog({ email, hasPassword, onClose, onDone }: PasswordDialogProps) {
  const [currentPassword, setCurrentPassword] = useState("");
  const [newPassword, setNewPassword] = useState("");
  const { run, busy, failure } = useAction(async () => {
    const body = { newPassword, ...(hasPassword ? { currentPassword } : {}) };
    await authorized("/auth/password", { method: "PUT", body });
    toast("The password is set. All other sessions were ended.");
    onDone();
  });
  const wait = useWait(failure);
  return (
    <Dialog title={hasPassword ? "Change the password" : "Set a password"} onClose={onClose} closeOnBackdrop={false}>
      <p>All other sessions of your account end with it, and mailed links stop working.</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (wait === 0) void run();
        }}
      >
        {/* For password managers: whose password it is. */}
        <input type="email" name="email" autocomplete="username" value={email} readOnly hidden />
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
        <Refused failure={wrongPasswordAt("currentPassword", failure)} fields={["currentPassword", "newPassword"]} />
        <Row>
          <Button type="submit" look="primary" busy={busy} disabled={wait > 0}>
            {hasPassword ? "Change it" : "Set it"}
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Row>
      </form>
    </Dialog>
  );
}

/** A wrong password is said at its field. */
export function wrongPasswordAt(path: string, failure: ApiFailure | null): ApiFailure | null {
  if (failure?.code !== "INVALID_CREDENTIALS") return failure;
  const { message, code, status } = failure;
  return new ApiFailure(message, { code, status, details: [{ path, code, message }] });
}
