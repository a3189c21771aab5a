import { useState } from "preact/hooks";
import { useLoad } from "../../lib/load.ts";
import { loadProfile, renameUser } from "../../model/account.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Copy } from "../../ui/copy.tsx";
import { NameDialog } from "../../ui/name-dialog.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";
import { ResendConfirmation } from "../auth/confirmation.tsx";
import css from "./account.module.css";

/** The user and whether the address is confirmed. */
export function Profile({ user }: { user: StoredUser }) {
  const { failure, reload } = useLoad(user.id, loadProfile);
  const [isRenaming, setRenaming] = useState(false);
  return (
    <Card title="Profile">
      <dl class={css.facts}>
        <dt>E-mail address</dt>
        <dd>
          {user.email}{" "}
          {user.emailVerified === undefined ? null : user.emailVerified ? (
            <Badge tone="good">Confirmed</Badge>
          ) : (
            <Badge tone="warn">Not confirmed</Badge>
          )}
        </dd>
        <dt>Name</dt>
        <dd>
          {user.name === undefined ? <span class={css.quiet}>None</span> : <span>{user.name}</span>}
          <Button small onClick={() => setRenaming(true)}>
            Change name
          </Button>
        </dd>
        <dt>Account ID</dt>
        <dd>
          <code>{user.id}</code> <Copy text={user.id} />
        </dd>
      </dl>
      {user.emailVerified === false ? (
        <>
          <p>
            Confirm the address to share workspaces, accept invitations and link providers. The link in our e-mail works
            for 24 hours.
          </p>
          <ResendConfirmation />
        </>
      ) : null}
      {failure === null ? null : <Failure failure={failure} onRetry={reload} />}
      {isRenaming ? (
        <NameDialog
          title="Change name"
          action="Save"
          name={user.name ?? ""}
          hint="Other members see it. Empty for none."
          isOptional
          onSave={async (name) => {
            await renameUser(name);
            setRenaming(false);
            toast("Name changed.");
          }}
          onClose={() => setRenaming(false)}
        />
      ) : null}
    </Card>
  );
}
