import type { ComponentChildren } from "preact";
import { useAction } from "../../lib/action.ts";
import { endGrant, type Grant, SCOPE_WORDS } from "../../model/grants.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Item } from "../../ui/items.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toasts.tsx";

interface GrantItemProps {
  grant: Omit<Grant, "workspaceName">;
  /** The workspace or the member of the grant, whichever the list does not show. */
  owner: readonly [name: string, value: ComponentChildren];
  onEnded: () => void;
}

/** The access of an agent, with the button that ends it. */
export function GrantItem({ grant, owner, onEnded }: GrantItemProps) {
  const { client, scopes, projects, createdAt, lastUsedAt, expiresAt } = grant;
  const { run, busy, failure } = useAction(async () => {
    await endGrant(grant);
    toast("Access ended.");
    onEnded();
  });
  return (
    <Item
      title={
        <>
          <bdi>{client.name}</bdi> {client.host === null ? <Badge>Not verified</Badge> : null}
        </>
      }
      facts={[
        client.host === null ? null : ["Published by", client.host],
        ["Receives at", client.receiver],
        owner,
        ["Projects", projects === null ? "all" : projects.map(({ name }) => name).join(", ")],
        ["May", scopes.map((scope) => SCOPE_WORDS[scope].toLowerCase()).join(", ")],
        ["Allowed", <Time key="created" at={createdAt} />],
        ["Last used", lastUsedAt === null ? "never" : <Time key="used" at={lastUsedAt} />],
        ["Ends", <Time key="ends" at={expiresAt} />],
      ]}
      actions={
        <Button small busy={busy} onClick={() => run()}>
          End access<span class="visually-hidden"> of {client.name}</span>
        </Button>
      }
    >
      <Problem failure={failure} />
    </Item>
  );
}
