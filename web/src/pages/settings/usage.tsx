import { useLoad } from "../../lib/load.ts";
import type { Usage, Workspace } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { Section } from "./section.tsx";

const COUNT = new Intl.NumberFormat();
const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function UsageSection({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}/usage`;
  const { data, failure, busy, reload } = useLoad(
    path,
    async (signal) => (await authorized<Usage>(path, { signal })).data,
  );
  return (
    <Section
      title="Usage"
      intro="What this workspace holds and takes in. Sizes are as stored, compressed."
      actions={
        <Button busy={busy} onClick={reload}>
          Refresh
        </Button>
      }
    >
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null ? failure ? null : <Loading what="Counting" /> : <UsageFacts usage={data} />}
    </Section>
  );
}

function UsageFacts({ usage: { recent, stored, ingestedToday, flush } }: { usage: Usage }) {
  return (
    <>
      <Card title="Entries">
        <Items label="Entries">
          <Item title="Taken in today" facts={[["Entries", COUNT.format(ingestedToday)]]}>
            <span>Since 00:00 UTC, all projects together.</span>
          </Item>
          <Item
            title="Recent"
            facts={[
              ["Entries", COUNT.format(recent.entries)],
              ["Size", sizeOf(recent.bytes)],
              recent.oldestAt === null ? null : ["Oldest arrived", <Time at={recent.oldestAt} />],
            ]}
          >
            <span>What came last. It moves to the long-term store by itself.</span>
          </Item>
          <Item
            title="Long-term store"
            facts={
              stored === null
                ? []
                : [
                    ["Entries", COUNT.format(stored.entries)],
                    ["Size", sizeOf(stored.bytes)],
                    ["Blocks", COUNT.format(stored.segments)],
                  ]
            }
          >
            <span>
              {stored === null
                ? "It cannot be reached at the moment. Recent entries can still be sent and found."
                : "Kept until the retention ends. Queries look at both and answer as if they were one."}
            </span>
          </Item>
        </Items>
      </Card>
      <Card title="Moving to the long-term store">
        <Items label="Moving to the long-term store">
          <Item
            title={
              <>
                State
                {flush.lastError === null ? <Badge tone="good">works</Badge> : <Badge tone="bad">has failed</Badge>}
              </>
            }
            facts={[
              ["Batches waiting", COUNT.format(flush.pendingBatches)],
              ["Last moved", flush.lastAt === null ? "never yet" : <Time at={flush.lastAt} />],
            ]}
          >
            <span>
              {flush.lastError === null
                ? "Batches move once they are old enough or many. Until then they wait here, and every query finds them."
                : "Nothing is lost: what waits stays found, and the service tries again by itself."}
            </span>
          </Item>
          {flush.lastError === null ? null : (
            <Item title="Last error">
              <code>{flush.lastError}</code>
            </Item>
          )}
          <Item title="Set aside" facts={[["Batches", COUNT.format(flush.setAside)]]}>
            <span>
              {flush.setAside === 0
                ? "No batch is stuck."
                : "These batches cannot be moved. They stay where they are. Tell whoever runs this service."}
            </span>
          </Item>
        </Items>
      </Card>
    </>
  );
}

/** "1.4 MB": decimal, with two digits that mean something. */
export function sizeOf(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1000 ** step;
  return `${amount.toLocaleString(undefined, { maximumFractionDigits: step > 0 && amount < 100 ? 1 : 0 })} ${UNITS[step]}`;
}
