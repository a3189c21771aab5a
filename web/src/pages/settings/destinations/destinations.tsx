import { useState } from "preact/hooks";
import { useLoad } from "../../../lib/load.ts";
import { reasonAgainst } from "../../../model/roles.ts";
import type { CreatedDestination, Destination, Workspace } from "../../../model/types.ts";
import { allOf } from "../../../model/workspaces.ts";
import { authorized } from "../../../session/session.ts";
import { Button } from "../../../ui/button.tsx";
import { Items } from "../../../ui/items.tsx";
import { Card } from "../../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { RotateDialog } from "../rotate-dialog.tsx";
import { RoleNote, Section } from "../section.tsx";
import { DeleteDestination } from "./delete-destination.tsx";
import { DestinationForm } from "./destination-form.tsx";
import { DestinationItem } from "./destination-item.tsx";
import { SigningSecret } from "./signing-secret.tsx";

/** The dialog that is open. */
type Asked = { kind: "create" } | { kind: "edit" | "rotate" | "delete"; destination: Destination };

const NOTE = "destinations-note";

/** Where notifications go. */
export function Destinations({ workspace }: { workspace: Workspace }) {
  const path = `/workspaces/${workspace.id}/destinations`;
  const { data, failure, reload, put } = useLoad(path, (signal) => allOf<Destination>(path, undefined, signal));
  const [asked, setAsked] = useState<Asked | null>(null);
  const [shown, setShown] = useState<CreatedDestination | null>(null);
  const close = (): void => setAsked(null);
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
          onClick={() => setAsked({ kind: "create" })}
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
                onEdit={() => setAsked({ kind: "edit", destination })}
                onRotate={() => setAsked({ kind: "rotate", destination })}
                onDelete={() => setAsked({ kind: "delete", destination })}
              />
            ))}
          </Items>
        </Card>
      ) : null}
      {asked?.kind === "create" || asked?.kind === "edit" ? (
        <DestinationForm
          path={path}
          destination={asked.kind === "edit" ? asked.destination : null}
          onSaved={(saved) => {
            close();
            if ("secret" in saved && saved.secret) setShown(saved);
            else toast(asked.kind === "edit" ? `Saved ${saved.name}.` : `Created ${saved.name}.`);
            // Until the list is loaded, the next change would be one of the version before, which is refused.
            if (asked.kind === "edit" && data) put(data.map((each) => (each.id === saved.id ? saved : each)));
            reload();
          }}
          onClose={() => {
            close();
            // A change that is refused because of another one is made from its outcome.
            reload();
          }}
        />
      ) : null}
      {asked?.kind === "rotate" ? (
        <RotateDialog
          title={`Rotate secret of ${asked.destination.name}`}
          action="Create new secret"
          onRotate={async (overlapSeconds) => {
            const body = { overlapSeconds };
            setShown((await authorized<CreatedDestination>(`${path}/${asked.destination.id}/rotate`, { body })).data);
            close();
            reload();
          }}
          onClose={close}
        >
          <p>
            Creates a new signing secret. For the overlap every request has the signatures of both, so that you can
            replace it at the receiver without a failed delivery.
          </p>
        </RotateDialog>
      ) : null}
      {shown ? <SigningSecret made={shown} onClose={() => setShown(null)} /> : null}
      {asked?.kind === "delete" ? (
        <DeleteDestination
          workspaceId={workspace.id}
          path={path}
          destination={asked.destination}
          onDeleted={() => {
            close();
            reload();
          }}
          onClose={close}
        />
      ) : null}
    </Section>
  );
}
