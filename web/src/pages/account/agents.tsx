import { useAction } from "../../lib/action.ts";
import { useLoad } from "../../lib/load.ts";
import { endGrant, type Grant, loadGrants, SCOPE_WORDS } from "../../model/grants.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { toast } from "../../ui/toasts.tsx";

/** Programs that act for the user, in all workspaces. */
export function Agents({ userId }: { userId: string }) {
  const { data, failure, reload, put } = useLoad(userId, loadGrants);
  return (
    <Card title="Agents">
      {data === null ? (
        failure ? (
          <Failure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )
      ) : data.length === 0 ? (
        <p>No agent has access.</p>
      ) : (
        <Items label="Agents">
          {data.map((grant) => (
            <GrantItem key={grant.id} grant={grant} onEnded={() => put(data.filter(({ id }) => id !== grant.id))} />
          ))}
        </Items>
      )}
    </Card>
  );
}

function GrantItem({ grant, onEnded }: { grant: Grant; onEnded: () => void }) {
  const { client, scopes, projects, workspaceName, createdAt, lastUsedAt, expiresAt } = grant;
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
        ["Workspace", <bdi key="workspace">{workspaceName}</bdi>],
        ["Projects", projects === null ? "all" : projects.map(({ name }) => name).join(", ")],
        ["May", scopes.map((scope) => SCOPE_WORDS[scope].toLowerCase()).join(", ")],
        ["Allowed", <Time key="created" at={createdAt} />],
        lastUsedAt === null ? null : ["Last used", <Time key="used" at={lastUsedAt} />],
        ["Ends", <Time key="ends" at={expiresAt} />],
      ]}
      actions={
        <Button small busy={busy} aria-label={`End the access of ${client.name}`} onClick={() => run()}>
          End access
        </Button>
      }
    >
      <Problem failure={failure} />
    </Item>
  );
}
