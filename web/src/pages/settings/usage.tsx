import { useLoad } from "../../lib/load.ts";
import type { Usage, Workspace } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card } from "../../ui/page.tsx";
import { Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { DaysCard } from "../usage/days-card.tsx";
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
      intro="Stored entries and today's intake. Sizes are compressed."
      actions={
        <Button busy={busy} onClick={reload}>
          Refresh
        </Button>
      }
    >
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null ? failure ? null : <Loading what="Counting" /> : <UsageFacts usage={data} />}
      <DaysCard workspace={workspace} />
    </Section>
  );
}

function UsageFacts({ usage: { recent, stored, ingestedToday, flush } }: { usage: Usage }) {
  return (
    <>
      <Card title="Entries">
        <Items label="Entries">
          <Item title="Received today" facts={[["Entries", COUNT.format(ingestedToday)]]}>
            <span>All projects, since 00:00 UTC.</span>
          </Item>
          <Item
            title="Recent"
            facts={[
              ["Entries", COUNT.format(recent.entries)],
              ["Size", sizeOf(recent.bytes)],
              recent.oldestAt === null ? null : ["Oldest received", <Time at={recent.oldestAt} />],
            ]}
          >
            <span>Newest entries, later moved to long-term storage.</span>
          </Item>
          <Item
            title="Long-term storage"
            facts={
              stored === null
                ? []
                : [
                    ["Entries", COUNT.format(stored.entries)],
                    ["Size", sizeOf(stored.bytes)],
                  ]
            }
          >
            <span>
              {stored === null
                ? "Currently unavailable. Sending and searching recent entries still works."
                : "Kept as long as the settings say. A search reads both."}
            </span>
          </Item>
        </Items>
      </Card>
      <Card title="Move to long-term storage">
        <Items label="Move to long-term storage">
          <Item
            title={
              <>
                Status
                {flush.lastError === null ? <Badge tone="good">OK</Badge> : <Badge tone="warn">Delayed</Badge>}
              </>
            }
            facts={[["Last", flush.lastAt === null ? "never" : <Time at={flush.lastAt} />]]}
          >
            <span>
              {flush.lastError === null
                ? "Recent entries are moved automatically. A search finds them at any time."
                : "No entry is lost: recent entries stay searchable, and the service retries automatically."}
            </span>
          </Item>
          {flush.lastError === null ? null : (
            <Item title="Error, for the operator of this service">
              <code>{flush.lastError}</code>
            </Item>
          )}
          {flush.setAside === 0 ? null : (
            <Item
              title={
                <>
                  Some entries cannot be moved <Badge tone="warn">Contact the operator</Badge>
                </>
              }
              facts={[["Batches", COUNT.format(flush.setAside)]]}
            >
              <span>They are stored and searchable. The operator of this service can find the cause.</span>
            </Item>
          )}
        </Items>
      </Card>
    </>
  );
}

/** Formats a size in decimal units with two significant digits: "1.4 MB". */
export function sizeOf(bytes: number): string {
  const step = bytes < 1000 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const amount = bytes / 1000 ** step;
  return `${amount.toLocaleString(undefined, { maximumFractionDigits: step > 0 && amount < 100 ? 1 : 0 })} ${UNITS[step]}`;
}
