import { may } from "../../../../src/workspace/permissions.ts";
import { useLoad } from "../../lib/load.ts";
import { usePoll } from "../../lib/poll.ts";
import { loadAlerts } from "../../model/alerts.ts";
import type { AuditItem, Page as ListPage, Notification, RateLimits, Usage, Workspace } from "../../model/types.ts";
import { authorized } from "../../session/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { buttonClass } from "../../ui/button.tsx";
import { Page, Row, useTitle } from "../../ui/page.tsx";
import { Empty } from "../../ui/states.tsx";
import { OfWorkspace } from "../of-workspace.tsx";
import { DaysChart } from "../usage/days-chart.tsx";
import { loadDays } from "../usage/load-days.ts";
import { CostPart } from "./cost-part.tsx";
import { ErrorsOfDay } from "./errors-part.tsx";
import { Changes, FiringAlerts, Limits, Notices, Patterns, Releases, UnusedKeys } from "./lists.tsx";
import { loadKeyUse, loadNow } from "./load-now.ts";
import { LISTED } from "./now.ts";
import { Numbers } from "./numbers.tsx";
import css from "./overview.module.css";
import { Part } from "./part.tsx";

/** Days of the charts: the price list counts months. */
const DAYS = 30;
/** Items of the audit that are read for the last changes: most are sign-ins and calls of agents. */
const AUDITED = 100;
/** Milliseconds between two updates of the numbers that move. */
const REFRESH_MS = 30_000;

/** What happens in a workspace, on one page. */
export function Overview() {
  return <OfWorkspace title="Overview">{(workspace) => <Parts workspace={workspace} />}</OfWorkspace>;
}

function Parts({ workspace }: { workspace: Workspace }) {
  useTitle(`Overview · ${workspace.name}`);
  const base = `/w/${workspace.id}`;
  const api = `/workspaces/${workspace.id}`;
  const get =
    <T,>(path: string) =>
    async (signal: AbortSignal) =>
      (await authorized<T>(path, { signal })).data;
  const days = useLoad(api, (signal) => loadDays(workspace.id, DAYS, signal));
  const usage = useLoad(api, get<Usage>(`${api}/usage`));
  const now = useLoad(api, (signal) => loadNow(workspace.id, signal));
  const limits = useLoad(api, get<RateLimits>(`${api}/rate-limits`));
  const keys = useLoad(api, (signal) => loadKeyUse(workspace.id, signal));
  const alerts = useLoad(api, (signal) => loadAlerts(workspace.id, signal));
  const notices = useLoad(api, get<ListPage<Notification>>(`${api}/notifications?limit=${LISTED}`));
  const isAuditor = may(workspace.role, "audit.list");
  const audit = useLoad(`${api} ${isAuditor}`, async (signal) =>
    isAuditor ? (await authorized<ListPage<AuditItem>>(`${api}/audit?limit=${AUDITED}`, { signal })).data : null,
  );
  usePoll(() => {
    usage.refresh();
    now.refresh();
    limits.refresh();
    alerts.refresh();
  }, REFRESH_MS);
  if (days.data?.projects.length === 0) return <NoProjects workspace={workspace} />;
  return (
    <div class={css.page}>
      <div class={css.head}>
        <h1>{workspace.name}</h1>
        <Badge>{workspace.role}</Badge>
        <Row>
          <a class={buttonClass("plain")} href={base}>
            Open logs
          </a>
          <a class={buttonClass("quiet")} href={`${base}/start`}>
            New project
          </a>
        </Row>
      </div>
      <Numbers usage={usage} now={now} retentionDays={workspace.retentionDays} />
      <div class={css.parts}>
        <Part title="Errors of the last 24 hours" isWide loaded={now}>
          {({ errors, releases }) => (
            <ErrorsOfDay errors={errors} releases={releases ?? []} workspaceId={workspace.id} />
          )}
        </Part>
        <Part title="Firing alerts" loaded={alerts} more={{ href: `${base}/alerts`, label: "All alerts" }}>
          {(all) => <FiringAlerts alerts={all} base={base} mayCreate={may(workspace.role, "alert.create")} />}
        </Part>
        <Part title="Releases" loaded={now} more={{ href: `${base}/compare`, label: "Compare" }}>
          {({ releases }) => <Releases releases={releases} workspaceId={workspace.id} />}
        </Part>
        <Part
          title="Entries a day"
          isWide
          loaded={days}
          more={{ href: `${base}/settings/usage`, label: "Usage and export" }}
        >
          {(data) => (
            <>
              <DaysChart usage={data} />
              <p class={css.quiet}>Counted by the time of an entry, days in UTC.</p>
            </>
          )}
        </Part>
        <Part title="New patterns" loaded={now} more={{ href: `${base}/patterns`, label: "All patterns" }}>
          {({ patterns }) => <Patterns patterns={patterns} base={base} />}
        </Part>
        <Part title="Notifications" loaded={notices} more={{ href: `${base}/settings/notifications`, label: "All" }}>
          {({ items }) => <Notices items={items} />}
        </Part>
        <CostPart days={days} usage={usage} />
        {isAuditor ? (
          <Part title="Last changes" loaded={audit} more={{ href: `${base}/settings/audit`, label: "Audit" }}>
            {(page) => <Changes items={page?.items ?? []} limit={LISTED} />}
          </Part>
        ) : null}
        <Part title="Limits" loaded={limits} more={{ href: `${base}/settings/limits`, label: "All limits" }}>
          {({ live }) => <Limits live={live} workspaceId={workspace.id} />}
        </Part>
        <Part title="Unused keys" loaded={keys} more={{ href: `${base}/settings/keys`, label: "API keys" }}>
          {(use) => <UnusedKeys keys={use} base={base} />}
        </Part>
      </div>
    </div>
  );
}

function NoProjects({ workspace }: { workspace: Workspace }) {
  return (
    <Page title={workspace.name}>
      <Empty title="No projects yet">
        <p>Entries belong to a project. Name one, and send its first entry from your language.</p>
        <a class={buttonClass("primary")} href={`/w/${workspace.id}/start`}>
          Send the first entry
        </a>
      </Empty>
    </Page>
  );
}
