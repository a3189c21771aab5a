import { useState } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { CreatedDestination, Destination, Workspace } from "../../../model/types.ts";
import { allOf } from "../../../model/workspaces.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Confirm } from "../../../ui/confirm.tsx";
import { Items } from "../../../ui/items.tsx";
import { Card } from "../../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { RoleNote, Section } from "../section.tsx";
import { CreateDestination } from "./create-destination.tsx";
import { DestinationItem } from "./destination-item.tsx";
import { SigningSecret } from "./signing-secret.tsx";

const NOTE = "destinations-note";

/** Where notifications go. */
export function Destinations({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}/destinations`;
  const { data, failure, reload } = useLoad(path, (signal) => allOf<Destination>(path, undefined, signal));
  const [isCreating, setCreating] = useState(false);
  const [shown, setShown] = useState<CreatedDestination | null>(null);
  const [deleted, setDeleted] = useState<Destination | null>(null);
  const reason = reasonAgainst(workspace.role, "destination.create");
  return (
    <Section
      title="Destinations"
      intro={
        <>
          Where notifications go. What was sent is listed in{" "}
          <a href={`/w/${workspace.id}/settings/notifications`}>Notifications</a>.
        </>
      }
      actions={
        <Button
          look="primary"
          disabled={reason !== null}
          aria-describedby={reason === null ? undefined : NOTE}
          onClick={() => setCreating(true)}
        >
          Create destination
        </Button>
      }
    >
      <RoleNote id={NOTE} reason={reason} />
      {failure ? <Failure failure={failure} onRetry={reload} /> : null}
      {data === null && failure === null ? <Loading /> : null}
      {data?.length === 0 ? (
        <Empty title="No destinations">
          <p>
            A destination gets the notifications of <a href={`/w/${workspace.id}/alerts`}>alerts</a>: a webhook, a mail,
            Slack, PagerDuty or an Alertmanager.
          </p>
        </Empty>
      ) : null}
      {data && data.length > 0 ? (
        <Card>
          <Items label="Destinations">
            {data.map((destination) => (
              <DestinationItem
                key={destination.id}
                path={path}
                alertsLink={`/w/${workspace.id}/alerts?${new URLSearchParams({ destination: destination.id })}`}
                destination={destination}
                role={workspace.role}
                onChanged={reload}
                onRotated={setShown}
                onDelete={() => setDeleted(destination)}
              />
            ))}
          </Items>
        </Card>
      ) : null}
      {isCreating ? (
        <CreateDestination
          path={path}
          onCreated={(made) => {
            setCreating(false);
            if (made.secret !== null) setShown(made);
            else toast(`Created ${made.name}.`);
            reload();
          }}
          onClose={() => setCreating(false)}
        />
      ) : null}
      {shown ? <SigningSecret made={shown} onClose={() => setShown(null)} /> : null}
      {deleted ? (
        <Confirm
          title="Delete destination?"
          action="Delete"
          onConfirm={async () => {
            await authorized(`${path}/${deleted.id}`, { method: "DELETE" });
            setDeleted(null);
            toast(`Deleted ${deleted.name}.`);
            reload();
          }}
          onClose={() => setDeleted(null)}
        >
          <p>
            Notifications no longer go to <strong>{deleted.name}</strong>, also those that are pending.
          </p>
        </Confirm>
      ) : null}
    </Section>
  );
}
