import { useLoad } from "../../../lib/load.ts";
import { type Alert, loadAlerts } from "../../../model/alerts.ts";
import type { Destination } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { toast } from "../../../ui/toasts.tsx";
import { visible } from "../../explorer/view/visible.ts";

/** Alerts that the dialog names. */
const NAMED = 10;

interface DeleteDestinationProps {
  workspaceId: string;
  /** The path of all destinations in the API. */
  path: string;
  destination: Destination;
  onDeleted: () => void;
  onClose: () => void;
}

/** Asks whether a destination is to be deleted, and names the alerts that notify it. They are changed with it. */
export function DeleteDestination({ workspaceId, path, destination, onDeleted, onClose }: DeleteDestinationProps) {
  const { id, name } = destination;
  const alerts = useLoad(workspaceId, (signal) => loadAlerts(workspaceId, signal));
  const users = alerts.data?.filter(({ destinations }) => destinations.includes(id)) ?? [];
  return (
    <Confirm
      title="Delete destination?"
      action="Delete"
      onConfirm={async () => {
        // What the dialog does not name is refused by the service, which names it.
        const force = users.length > 0 ? "?force=true" : "";
        await authorized(`${path}/${id}${force}`, { method: "DELETE" });
        toast(users.length === 0 ? `Deleted ${name}.` : `Deleted ${name}, and removed it from ${countOf(users)}.`);
        onDeleted();
      }}
      onClose={onClose}
    >
      <p>
        Notifications no longer go to <strong>{name}</strong>, also those that are pending.
      </p>
      {users.length === 0 ? null : (
        <>
          <p>It is removed from {countOf(users)}:</p>
          <ul>
            {users.slice(0, NAMED).map((alert) => (
              <li key={alert.id}>
                <a href={`/w/${workspaceId}/alerts/${alert.projectId}/${alert.id}`}>{visible(alert.name)}</a>
                {alert.destinations.length - alert.missingDestinations.length === 1 ? ", which has no other" : ""}
              </li>
            ))}
            {users.length > NAMED ? <li>{users.length - NAMED} more</li> : null}
          </ul>
        </>
      )}
    </Confirm>
  );
}

function countOf({ length }: readonly Alert[]): string {
  return length === 1 ? "1 alert" : `${length} alerts`;
}
