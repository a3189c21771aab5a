import { ApiFailure, failureOf } from "../../../api/failure.ts";
import { useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { type Alert, loadAlerts } from "../../../model/alerts.ts";
import type { Destination } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { Confirm } from "../../../ui/confirm.tsx";
import { Failure } from "../../../ui/states.tsx";
import { toast } from "../../../ui/toasts.tsx";

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
  const usersAmong = (all: readonly Alert[]) => all.filter(({ destinations }) => destinations.includes(id));
  const users = usersAmong(alerts.data ?? []);
  return (
    <Confirm
      title="Delete destination?"
      action="Delete"
      onConfirm={async () => {
        const isForced = users.length > 0;
        if (isForced) {
          // Forced, the service changes all alerts that name the destination, also those that the dialog does not name.
          const now = await loadAlerts(workspaceId);
          alerts.put(now);
          if (idsOf(usersAmong(now)) !== idsOf(users)) throw changedMeanwhile();
        }
        try {
          await authorized(`${path}/${id}${isForced ? "?force=true" : ""}`, { method: "DELETE" });
        } catch (error) {
          // An alert that the dialog does not name uses the destination. The next attempt is made with its name in sight.
          if (failureOf(error).status === 409) alerts.reload();
          throw error;
        }
        toast(users.length === 0 ? `Deleted ${name}.` : `Deleted ${name}, and removed it from ${countOf(users)}.`);
        onDeleted();
      }}
      onClose={onClose}
    >
      <p>
        Notifications no longer go to <strong>{name}</strong>, also those that are pending.
      </p>
      {alerts.failure === null ? null : <Failure failure={alerts.failure} onRetry={alerts.reload} />}
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

/** The ids of alerts, for a comparison that ignores their order. */
function idsOf(alerts: readonly Alert[]): string {
  return alerts
    .map(({ id }) => id)
    .sort()
    .join();
}

function changedMeanwhile(): ApiFailure {
  return new ApiFailure("The alerts that notify it have changed. Check them above, and delete it again.", {
    code: "CONFLICT",
    status: 409,
  });
}

function countOf({ length }: readonly Alert[]): string {
  return length === 1 ? "1 alert" : `${length} alerts`;
}
