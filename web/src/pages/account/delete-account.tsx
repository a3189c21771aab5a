import { useState } from "preact/hooks";
import type { ApiFailure } from "../../api/failure.ts";
import { useAction } from "../../lib/action.ts";
import { useWait } from "../../lib/countdown.ts";
import { useLoad } from "../../lib/load.ts";
import { loadMethods, type Methods } from "../../model/account.ts";
import { workspaces } from "../../model/workspaces.ts";
import { authorized, forget } from "../../session/session.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { Note, PasswordField } from "../auth/parts.tsx";
import css from "./account.module.css";
import { SignInAgain } from "./sign-in-again.tsx";
import { pathOf } from "./steps.ts";
import { wrongPasswordAt } from "./wrong-password.ts";

/** @param isOpen whether the dialog is open initially */
export function DeleteAccount({ user, isOpen: isOpenFirst }: { user: StoredUser; isOpen: boolean }) {
  const [isOpen, setIsOpen] = useState(isOpenFirst);
  return (
    <Card title="Delete account">
      <div class={css.between}>
        <span>Also deletes your personal workspace and its logs. This cannot be undone.</span>
        <Button look="danger" onClick={() => setIsOpen(true)}>
          Delete account …
        </Button>
      </div>
      {isOpen ? <DeleteDialog user={user} onClose={() => setIsOpen(false)} /> : null}
    </Card>
  );
}

function DeleteDialog({ user, onClose }: { user: StoredUser; onClose: () => void }) {
  const { data, failure, reload } = useLoad(user.id, loadMethods);
  return (
    <Dialog title="Delete account?" onClose={onClose} closeOnBackdrop={false}>
      <DeletionSummary />
      {data ? (
        <DeleteForm user={user} methods={data} onClose={onClose} />
      ) : failure ? (
        <Failure failure={failure} onRetry={reload} />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}

function DeletionSummary() {
  const owned = (workspaces.value ?? []).filter(({ role }) => role === "owner");
  return (
    <div>
      <p>This immediately and permanently deletes:</p>
      <ul>
        <li>your account and all its sessions, in every browser,</li>
        <li>every API key that you created, in every workspace,</li>
        <li>
          every workspace without another owner, with its projects and logs
          {owned.length === 0 ? "." : ". You own:"}
          {owned.length === 0 ? null : (
            <ul>
              {owned.map(({ id, name, personal }) => (
                <li key={id}>
                  <strong>{name}</strong>
                  {personal ? " (personal, always deleted)" : ""}
                </li>
              ))}
            </ul>
          )}
        </li>
      </ul>
    </div>
  );
}

interface DeleteFormProps {
  user: StoredUser;
  methods: Methods;
  onClose: () => void;
}

function DeleteForm({ user, methods, onClose }: DeleteFormProps) {
  const { hasPassword } = methods;
  const [typed, setTyped] = useState("");
  const [password, setPassword] = useState("");
  const { run, busy, failure } = useAction(async () => {
    await authorized("/auth/me", { method: "DELETE", body: hasPassword ? { password } : {} });
    toast("Account deleted.");
    forget(null);
  });
  const wait = useWait(failure);
  const isReady = typed.trim().toLowerCase() === user.email && wait === 0;
  const shown = wrongPasswordAt("password", failure);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void run();
      }}
    >
      <Field label="Type the account's e-mail address" hint={<code>{user.email}</code>}>
        {(props) => (
          <input
            {...props}
            name="confirmation"
            value={typed}
            autocomplete="off"
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        )}
      </Field>
      {hasPassword ? (
        <PasswordField
          label="Password"
          name="password"
          autocomplete="current-password"
          value={password}
          onValue={setPassword}
          failure={shown}
        />
      ) : (
        <p>The account has no password. You must have signed in within the last 10 minutes.</p>
      )}
      <Refusal failure={shown} user={user} methods={methods} />
      <Row>
        <Button type="submit" look="danger" busy={busy} disabled={!isReady}>
          Delete account
        </Button>
        <Button onClick={onClose}>Cancel</Button>
      </Row>
    </form>
  );
}

interface RefusalProps {
  failure: ApiFailure | null;
  user: StoredUser;
  methods: Methods;
}

function Refusal({ failure, user, methods }: RefusalProps) {
  if (failure?.code !== "REAUTHENTICATION_REQUIRED") return <Problem failure={failure} fields={["password"]} />;
  return (
    <Note tone="warn">
      <strong>You signed in more than 10 minutes ago.</strong>
      <SignInAgain user={user} methods={methods} next={pathOf("delete")}>
        Sign in again to continue:
      </SignInAgain>
    </Note>
  );
}
