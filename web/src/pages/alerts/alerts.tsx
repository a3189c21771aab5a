import { FileText, Plus } from "lucide";
import { useMemo } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { may } from "../../../../src/workspace/permissions.ts";
import { useLoad } from "../../lib/load.ts";
import { useNow } from "../../lib/now.ts";
import { usePoll } from "../../lib/poll.ts";
import { visible } from "../../lib/visible.ts";
import { loadAlerts } from "../../model/alerts.ts";
import type { Destination } from "../../model/types.ts";
import { allOf, knownWorkspace, loadProjects } from "../../model/workspaces.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Icon } from "../../ui/icon.tsx";
import { Page } from "../../ui/page.tsx";
import { useCommands } from "../../ui/palette/commands.ts";
import { Select } from "../../ui/select.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import css from "./alert-list.module.css";
import { AlertRows } from "./alert-rows.tsx";
import alertsCss from "./alerts.module.css";
import { inOrder } from "./state.ts";

/** Milliseconds between two loads of the states. */
const REFRESH_MS = 10_000;

/** The alerts of a workspace, firing ones first. The query of the address selects those of a project or a destination. */
export function Alerts() {
  const { workspaceId = "" } = useRoute().params;
  const { query, route } = useLocation();
  const { project = "", destination = "" } = query;
  const alerts = useLoad(workspaceId, (signal) => loadAlerts(workspaceId, signal));
  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const destinations = useLoad(workspaceId, (signal) =>
    allOf<Destination>(`/workspaces/${workspaceId}/destinations`, undefined, signal),
  );
  usePoll(alerts.refresh, REFRESH_MS);
  const now = useNow();
  const shown = useMemo(
    () =>
      inOrder(
        alerts.data?.filter(
          (alert) =>
            (project === "" || alert.projectId === project) &&
            (destination === "" || alert.destinations.includes(destination)),
        ) ?? [],
      ),
    [alerts.data, project, destination],
  );
  const role = knownWorkspace(workspaceId)?.role;
  const mayChange = role !== undefined && may(role, "alert.create");
  const create = mayChange ? (
    <a class={buttonClass("primary")} href={alertsPagePath(workspaceId, "new", project)}>
      <Icon shape={Plus} />
      New alert
    </a>
  ) : null;
  const asFile = (
    <a class={buttonClass("plain")} href={alertsPagePath(workspaceId, "file", project)}>
      <Icon shape={FileText} />
      Rules as a file
    </a>
  );
  useCommands(() => [
    ...(mayChange
      ? [{ label: "New alert", group: "Alerts", run: () => route(alertsPagePath(workspaceId, "new", project)) }]
      : []),
  ]);
  const select = (name: "project" | "destination", value: string): void => {
    const next = new URLSearchParams(
      Object.entries({ project, destination, [name]: value }).filter(([, each]) => each),
    );
    route(`/w/${workspaceId}/alerts${next.size === 0 ? "" : `?${next}`}`, true);
  };
  const nameOf = (id: string) => visible(projects.data?.find((each) => each.id === id)?.name ?? id);
  return (
    <Page
      title="Alerts"
      actions={
        alerts.data === null || alerts.data.length === 0 ? null : (
          <div class={alertsCss.bar}>
            {asFile}
            {create}
          </div>
        )
      }
    >
      <h2 class="visually-hidden">List</h2>
      {alerts.failure === null ? null : <Failure failure={alerts.failure} onRetry={alerts.reload} />}
      {alerts.data === null && alerts.failure === null ? <Loading /> : null}
      {alerts.data?.length === 0 ? (
        <Empty title="No alerts">
          <p>
            An alert counts the entries that a query finds, and notifies its destinations when there are too many or too
            few of them, or when they change.
          </p>
          <p>
            Begin with a search in <a href={`/w/${workspaceId}`}>Logs</a> and choose Create alert there: a preview shows
            when it would have fired in the last 7 days.
          </p>
          <p class={alertsCss.bar}>
            {create}
            {asFile}
          </p>
        </Empty>
      ) : null}
      {alerts.data === null || alerts.data.length === 0 ? null : (
        <>
          <div class={alertsCss.bar}>
            <Select
              label="Project"
              value={project}
              options={[
                { value: "", label: "All projects" },
                ...(projects.data?.map(({ id, name }) => ({ value: id, label: visible(name) })) ?? []),
              ]}
              onChange={(id) => select("project", id)}
            />
            <Select
              label="Destination"
              value={destination}
              options={[
                { value: "", label: "All destinations" },
                ...(destinations.data?.map(({ id, name }) => ({ value: id, label: visible(name) })) ?? []),
              ]}
              onChange={(id) => select("destination", id)}
            />
          </div>
          {shown.length === 0 ? <Empty title="No alerts here" /> : null}
          <ul class={css.list} aria-label="Alerts" aria-busy={alerts.busy && alerts.data === null}>
            <AlertRows
              workspaceId={workspaceId}
              alerts={shown}
              nameOf={nameOf}
              now={now}
              mayChange={mayChange}
              onChanged={(changed) =>
                alerts.put(alerts.data?.map((each) => (each.id === changed.id ? changed : each)) ?? [])
              }
            />
          </ul>
        </>
      )}
    </Page>
  );
}

function alertsPagePath(workspaceId: string, page: "new" | "file", project: string): string {
  return `/w/${workspaceId}/alerts/${page}${project === "" ? "" : `?${new URLSearchParams({ project })}`}`;
}
