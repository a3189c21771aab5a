import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { isLow } from "../../../../src/alerts/condition.ts";
import { may } from "../../../../src/workspace/permissions.ts";
import { useLoad } from "../../lib/load.ts";
import { useNow } from "../../lib/now.ts";
import { usePages } from "../../lib/pages.ts";
import { usePoll } from "../../lib/poll.ts";
import { visible } from "../../lib/visible.ts";
import { type Alert, alertsPath, type Decision, deleteAlert, loadAlert } from "../../model/alerts.ts";
import { ableTo } from "../../model/roles.ts";
import type { Destination } from "../../model/types.ts";
import { allOf, knownWorkspace, loadProjects } from "../../model/workspaces.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm.tsx";
import { Facts } from "../../ui/items.tsx";
import { Card, Page, Row } from "../../ui/page.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { number } from "../explorer/view/format.ts";
import { filterText } from "./alert-query.ts";
import { AlertState } from "./alert-state.tsx";
import css from "./alerts.module.css";
import { muteText } from "./definition-words.ts";
import { History } from "./history.tsx";
import { MuteMenu } from "./mute-menu.tsx";
import { isIdle, isSpan } from "./state.ts";
import { ValueChart } from "./value-chart.tsx";
import { Versions } from "./versions.tsx";
import { conditionPhrase, durationText } from "./words.ts";

/** Milliseconds between two loads of the state. */
const REFRESH_MS = 10_000;
/** Decisions of a page. */
const PAGE_SIZE = 50;

export function AlertPage() {
  const { workspaceId = "", projectId = "", alertId: id = "" } = useRoute().params;
  const ref = { projectId, id };
  const loaded = useLoad(`${workspaceId} ${projectId} ${id}`, (signal) => loadAlert(workspaceId, ref, signal));
  usePoll(loaded.refresh, REFRESH_MS);
  if (loaded.data !== null)
    return <ShownAlert key={id} workspaceId={workspaceId} alert={loaded.data} onChanged={loaded.put} />;
  return (
    <Page title="Alert">
      {loaded.failure === null ? <Loading /> : null}
      {loaded.failure === null ? null : loaded.failure.status === 404 ? (
        <Empty title="Alert not found">
          <a href={`/w/${workspaceId}/alerts`}>All alerts</a>
        </Empty>
      ) : (
        <Failure failure={loaded.failure} onRetry={loaded.reload} />
      )}
    </Page>
  );
}

interface ShownAlertProps {
  workspaceId: string;
  alert: Alert;
  onChanged: (alert: Alert) => void;
}

function ShownAlert({ workspaceId, alert, onChanged }: ShownAlertProps) {
  const { route } = useLocation();
  const now = useNow();
  const [isDeleting, setDeleting] = useState(false);
  const destinations = useLoad(workspaceId, (signal) =>
    allOf<Destination>(`/workspaces/${workspaceId}/destinations`, undefined, signal),
  );
  const decisions = usePages<Decision>(
    `${alert.id} ${alert.lastFiredAt} ${alert.state}`,
    PAGE_SIZE,
    (query) => `${alertsPath(alert.projectId, alert.id)}/decisions?${query}`,
    workspaceId,
  );
  const nameOf = (id: string) => destinations.data?.find((each) => each.id === id)?.name ?? id;
  const role = knownWorkspace(workspaceId)?.role;
  const mayChange = role !== undefined && may(role, "alert.update");
  return (
    <Page
      title={visible(alert.name)}
      actions={
        mayChange ? (
          <div class={css.actions}>
            <a class={buttonClass("plain")} href={`/w/${workspaceId}/alerts/${alert.projectId}/${alert.id}/edit`}>
              Edit
            </a>
            <MuteMenu workspaceId={workspaceId} alert={alert} now={now} onChanged={onChanged} />
            <Button look="danger" onClick={() => setDeleting(true)}>
              Delete
            </Button>
          </div>
        ) : null
      }
    >
      <div class={css.head}>
        <div class={css.state} role="status">
          <AlertState alert={alert} now={now} />
        </div>
        {mayChange || role === undefined ? null : (
          <p class={css.hint}>Changing alerts requires {ableTo("alert.update")}.</p>
        )}
      </div>
      <Rule workspaceId={workspaceId} alert={alert} nameOf={nameOf} now={now} />
      <Card title="Values">
        <ValueChart
          workspaceId={workspaceId}
          projectId={alert.projectId}
          rule={alert}
          decisions={decisions.items ?? []}
        />
      </Card>
      <History workspaceId={workspaceId} alert={alert} decisions={decisions} />
      <Versions workspaceId={workspaceId} alert={alert} nameOf={nameOf} mayChange={mayChange} />
      {isDeleting ? (
        <Confirm
          title="Delete alert?"
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await deleteAlert(workspaceId, alert);
            route(`/w/${workspaceId}/alerts`);
          }}
        >
          <p>
            <strong>{visible(alert.name)}</strong> stops deciding. Groups that fire are resolved, and its history is no
            longer listed.
          </p>
        </Confirm>
      ) : null}
    </Page>
  );
}

interface RuleProps {
  workspaceId: string;
  alert: Alert;
  nameOf: (destinationId: string) => string;
  now: number;
}

function Rule({ workspaceId, alert, nameOf, now }: RuleProps) {
  const projects = useLoad(workspaceId, (signal) => loadProjects(workspaceId, signal));
  const { projectId, query, condition, window, recovery, labels, message, position, groups, missing, notCounted } =
    alert;
  const filter = filterText(query);
  const logs = `/w/${workspaceId}/p/${projectId}${filter === "" ? "" : `?${new URLSearchParams({ q: filter })}`}`;
  const project = projects.data?.find((each) => each.id === projectId)?.name ?? projectId;
  const gone = new Set(alert.missingDestinations);
  const reached = alert.destinations.filter((id) => !gone.has(id));
  const mutes = alert.mutes.filter((mute) => !isSpan(mute) || Date.parse(mute.to) > now);
  const facts: (readonly [string, ComponentChildren] | null)[] = [
    [
      "Project",
      <a key="project" href={`/w/${workspaceId}/p/${projectId}`}>
        {visible(project)}
      </a>,
    ],
    ["Fires", `${conditionPhrase(condition)} in ${durationText(window)}`],
    alert.delay === null ? null : ["Delay", `${durationText(alert.delay)}, by the times of entries`],
    alert.late === 0 ? null : ["Late", `${number(alert.late)} entries arrived after their window was decided`],
    alert.for === "0s" ? null : ["For", durationText(alert.for)],
    recovery === null ? null : ["Recovers", `${isLow(condition) ? "from" : "below"} ${number(recovery)}`],
    ["Groups", `${number(groups.firing)} firing, ${number(groups.pending)} pending, ${number(groups.live)} live`],
    ["Last fired", alert.lastFiredAt === null ? "never in 30 days" : <Time key="fired" at={alert.lastFiredAt} />],
    [
      "Decided until",
      <>
        <Time at={position.through} />
        {isIdle(alert, now) ? " · up to date: no entry since then" : ""}
      </>,
    ],
    position.behind === 0 ? null : ["Behind", `${number(position.behind)} entries`],
    missing === 0 ? null : ["Missing", `${number(missing)} entries were deleted or damaged before they were counted`],
    notCounted === 0 ? null : ["Not counted", `${number(notCounted)} entries of groups without room`],
    mutes.length === 0 ? null : ["Mutes", mutes.map(muteText).join(", ")],
    ...Object.entries(labels).map(([name, value]) => [visible(name), visible(value)] as const),
  ];
  return (
    <Card title="Rule">
      <code class={css.query}>{visible(query)}</code>
      <Facts facts={facts.filter((fact) => fact !== null)} />
      {message === "" ? null : (
        <div>
          <p class={css.caption}>Message</p>
          <p class={css.prose}>{visible(message)}</p>
        </div>
      )}
      <Row>
        <a class={buttonClass("plain", true)} href={logs}>
          Show entries
        </a>
        <p class={css.hint}>
          {reached.length === 0 ? "No destinations: decisions are only listed." : "Notifies "}
          {reached.map((id, at) => (
            <span key={id}>
              {at === 0 ? "" : ", "}
              <a href={`/w/${workspaceId}/settings/destinations`}>{visible(nameOf(id))}</a>
            </span>
          ))}
          {gone.size === 0 ? "" : ` Deleted: ${[...gone].join(", ")}.`}
        </p>
      </Row>
    </Card>
  );
}
