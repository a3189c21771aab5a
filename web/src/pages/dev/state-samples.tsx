import { useState } from "preact/hooks";
import { ApiFailure } from "../../api/failure.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Item, Items } from "../../ui/items.tsx";
import { Card, Row } from "../../ui/page.tsx";
import { Empty, Failure } from "../../ui/states.tsx";
import { toast } from "../../ui/toasts.tsx";

const SAMPLE_FAILURE = new ApiFailure("The project was not found.", {
  code: "NOT_FOUND",
  status: 404,
  requestId: "req_sample",
});

/** Lists, badges, notices and dialogs. */
export function StateSamples() {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Card title="Lists">
        <Items label="Projects">
          <Item
            title={
              <>
                shop <Badge tone="good">active</Badge> <Badge tone="warn">ends soon</Badge>{" "}
                <Badge tone="bad">revoked</Badge> <Badge>viewer</Badge>
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
