import { useLoad } from "../../lib/load.ts";
import { loadProfile } from "../../model/account.ts";
import type { StoredUser } from "../../session/storage.ts";
import { Badge } from "../../ui/badge.tsx";
import { Copy } from "../../ui/copy.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { ResendConfirmation } from "../auth/sign-up.tsx";
import css from "./account.module.css";

/** The user and whether the address is confirmed. */
export function Profile({ user }: { user: StoredUser }) {
  const { failure, reload } = useLoad(user.id, loadProfile);
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
        <dd>{user.name ?? <span class={css.quiet}>None</span>}</dd>
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
    </Card>
  );
}
