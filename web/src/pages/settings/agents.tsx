import { useLoad } from "../../lib/load.ts";
import { loadGrantsIn } from "../../model/grants.ts";
import { ableTo } from "../../model/roles.ts";
import type { Workspace } from "../../model/types.ts";
import { Copy } from "../../ui/copy.tsx";
import { Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { GrantItem } from "../account/grant-item.tsx";
import css from "./keys/keys.module.css";
import { Section } from "./section.tsx";

/** Programs that act for members in the workspace: an admin sees those of all members, others their own. */
export function AgentsSection({ workspace }: { workspace: Workspace }) {
  const { data, failure, reload, put } = useLoad(workspace.id, (signal) => loadGrantsIn(workspace.id, signal));
  return (
    <Section
      title="AI agents"
      intro={`Programs that act for members in this workspace. Those of other members are listed for ${ableTo("member.remove")}.`}
    >
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null && failure === null ? <Loading /> : null}
      {data?.length === 0 ? <Empty title="No agent has access" /> : null}
      {data && data.length > 0 ? (
        <Card>
          <Items label="AI agents">
            {data.map((grant) => (
              <GrantItem
                key={grant.id}
                grant={grant}
                owner={["Member", grant.email ?? "left"]}
                onEnded={() => put(data.filter(({ id }) => id !== grant.id))}
              />
            ))}
          </Items>
        </Card>
      ) : null}
      <Connect />
    </Section>
  );
}

/** How an agent gets access: it opens the page on which a member gives it. */
function Connect() {
  const address = `${location.origin}/mcp`;
  const command = `claude mcp add --transport http taffrail ${address}`;
  return (
    <Card title="Connect an agent">
      <p>
        An agent of the Model Context Protocol needs this address alone. It opens a page on which you choose what it may
        do.
      </p>
      <div class={css.code}>
        <pre>{address}</pre>
        <Copy text={address} label="Copy address" />
      </div>
      <div class={css.code}>
        <h3>Claude Code</h3>
        <pre>{command}</pre>
        <Copy text={command} label="Copy command" />
      </div>
    </Card>
  );
}
