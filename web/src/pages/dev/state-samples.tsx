import { useState } from "preact/hooks";
import { ApiFailure } from "../../api/failure.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { StackedBars } from "../../ui/stacked-bars.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { toast } from "../../ui/toasts.tsx";

const SAMPLE_FAILURE = new ApiFailure("The project was not found.", {
  code: "NOT_FOUND",
  status: 404,
  requestId: "req_sample",
});

const TABS = [
  { name: "node", title: "Node" },
  { name: "python", title: "Python" },
] as const;

const BARS = [
  { name: "error", color: "var(--fill-error)", values: [4, 0, 9] },
  { name: "info", color: "var(--fill-info)", values: [20, 31, 12] },
];

/** Lists, badges, tabs, bars, notices and dialogs. */
export function StateSamples() {
  const [isOpen, setOpen] = useState(false);
  const [tab, setTab] = useState<(typeof TABS)[number]["name"]>("node");
  return (
    <>
      <Card title="Lists">
        <Items label="Projects">
          <Item
            title={
              <>
                shop <Badge tone="good">active</Badge> <Badge tone="warn">ends soon</Badge>{" "}
                <Badge tone="bad">deleted</Badge> <Badge>viewer</Badge>
              </>
            }
            facts={[
              ["Entries", "1,482"],
              ["Kept", "30 days"],
            ]}
            actions={<Button small>Rename</Button>}
          />
          <Item title={<code>proj_4f1kQ9x0Zb2M</code>} facts={[["Entries", "0"]]} />
        </Items>
      </Card>
      <Card title="Tabs and bars">
        <Tabs label="Language" tabs={TABS} chosen={tab} onChoose={setTab}>
          <StackedBars label="Entries a day" series={BARS} names={["Mon", "Tue", "Wed"]} ends={["Mon", "today"]} />
        </Tabs>
      </Card>
      <Card title="States">
        <Empty title="Nothing found">
          <p>No entries match this query.</p>
          <Button>Search all time</Button>
        </Empty>
        <Failure failure={SAMPLE_FAILURE} onRetry={() => undefined} isRepeated={false} />
        <Row>
          <Button onClick={() => toast("Saved.")}>Toast</Button>
          <Button onClick={() => setOpen(true)}>Dialog</Button>
          <kbd>Ctrl</kbd>
          <kbd>K</kbd>
        </Row>
        {isOpen ? (
          <Dialog title="Dialog" onClose={() => setOpen(false)}>
            <p>Escape closes it.</p>
          </Dialog>
        ) : null}
      </Card>
    </>
  );
}
