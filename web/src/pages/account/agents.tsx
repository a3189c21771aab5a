import { useLoad } from "../../lib/load.ts";
import { loadGrants } from "../../model/grants.ts";
import { Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { GrantItem } from "./grant-item.tsx";

/** Programs that act for the user, in all workspaces. */
export function Agents({ userId }: { userId: string }) {
  const { data, failure, reload, put } = useLoad(userId, loadGrants);
  return (
    <Card title="AI agents">
      {data === null ? (
        failure ? (
          <Failure failure={failure} onRetry={reload} />
        ) : (
          <Loading />
        )
      ) : data.length === 0 ? (
        <p>No agent has access.</p>
      ) : (
        <Items label="AI agents">
          {data.map((grant) => (
            <GrantItem
              key={grant.id}
              grant={grant}
              owner={["Workspace", <bdi key="workspace">{grant.workspaceName}</bdi>]}
              onEnded={() => put(data.filter(({ id }) => id !== grant.id))}
            />
          ))}
        </Items>
      )}
    </Card>
  );
}
