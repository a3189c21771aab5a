import { asUser, call, createKey, createProject, type Tenant } from "../../support/api.ts";

/** Entries by which each rule gets more groups than it may have. */
const ENTRIES = 11_000;
const ENTRIES_A_BATCH = 250;
/** Times that every group has entries: groups have as many steps. */
const ROUNDS = 3;
/** A value of 200 characters, which JSON escapes or UTF-8 makes longer. */
const LONG = "\u0001\u00e9\u{1f600}x".repeat(40);
const CATCH_UP_MS = 600_000;

/** What a workspace may have; see docs/alerts.md. */
const LIVE_GROUPS = 50_000;

/** Rules of two projects that group by more values than a workspace may have groups. */
const RULES = [
  { query: "* | count by text, id", value: 1e9 },
  { query: "* | stats p99(ms) by id", value: 1e9 },
  { query: "* | stats count_distinct(n) by id", value: 1e9 },
  // All groups fire at once.
  { query: "* | count by id", value: 1 },
  { query: "* | stats sum(ms) by id, text", value: 1e9 },
];

interface Alert {
  id: string;
  groups: { live: number };
  notCounted: number;
  position: { behind: number };
}

/** What is left of the rules, for the report. */
export interface CrowdedAlerts {
  groups: number;
  notCounted: number;
  seconds: number;
}

/**
 * Makes as many live groups as a workspace may have, and more.
 * @param meanwhile runs beside it until it resolves
 */
export async function crowdAlerts(url: string, tenant: Tenant, meanwhile: () => Promise<void>): Promise<CrowdedAlerts> {
  const { account } = tenant;
  const other = await createProject(url, account, "other");
  const projects = [tenant, { projectId: other, key: await createKey(url, account, other), account }];
  for (const project of projects) {
    for (const [index, { query, value }] of RULES.entries()) {
      const body = {
        name: `rule ${index}`,
        query,
        condition: { kind: "threshold", value },
        window: "5m",
        destinations: [],
      };
      const answer = await call(url, `/projects/${project.projectId}/alerts`, { ...asUser(account), body });
      if (answer.status !== 201) throw new Error(`A rule was answered with ${answer.status}.`);
    }
  }
  const startedAt = performance.now();
  for (let round = 0; round < ROUNDS; round++) {
    for (let first = 0; first < ENTRIES; first += ENTRIES_A_BATCH) {
      await Promise.all(projects.map((project) => send(url, project, first)));
      await meanwhile();
    }
  }
  const until = Date.now() + CATCH_UP_MS;
  let alerts = await listed(url, tenant);
  while (alerts.some(({ position }) => position.behind > 0) && Date.now() < until) {
    await meanwhile();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    alerts = await listed(url, tenant);
  }
  const sumOf = (of: (alert: Alert) => number) => alerts.reduce((sum, alert) => sum + of(alert), 0);
  const behind = sumOf(({ position }) => position.behind);
  const live = sumOf(({ groups }) => groups.live);
  const notCounted = sumOf((alert) => alert.notCounted);
  if (behind > 0) throw new Error(`${behind} entries were not counted in ${CATCH_UP_MS} ms`);
  if (live !== LIVE_GROUPS) throw new Error(`${live} groups are live`);
  if (notCounted === 0) throw new Error("no entry was left out");
  return { groups: live, notCounted, seconds: (performance.now() - startedAt) / 1000 };
}

/** Deletes all rules while their groups fire. */
export async function deleteAlerts(url: string, { account }: Tenant): Promise<void> {
  const { body } = await call<{ items: (Alert & { projectId: string })[] }>(
    url,
    `/workspaces/${account.workspaceId}/alerts`,
    asUser(account),
  );
  for (const { id, projectId } of body.data.items) {
    const answer = await call(url, `/projects/${projectId}/alerts/${id}`, { ...asUser(account), method: "DELETE" });
    if (answer.status >= 300) throw new Error(`The deletion of a rule was answered with ${answer.status}`);
  }
}

async function listed(url: string, { account }: Tenant): Promise<Alert[]> {
  const answer = await call<{ items: Alert[] }>(url, `/workspaces/${account.workspaceId}/alerts`, asUser(account));
  if (answer.status !== 200) throw new Error(`The alerts were answered with ${answer.status}`);
  return answer.body.data.items;
}

async function send(url: string, { projectId, key }: Tenant, first: number): Promise<void> {
  const entries = Array.from({ length: ENTRIES_A_BATCH }, (_, index) => {
    const n = first + index;
    return { level: "info", message: "crowd", data: { id: `id ${n}`, text: `${n} ${LONG}`, ms: n % 1500, n } };
  });
  for (let tries = 0; tries < 100; tries++) {
    const answer = await call(url, `/logger/${projectId}/log`, { token: key.secret, body: entries });
    if (answer.status === 201) return;
    if (answer.status !== 503) throw new Error(`A batch was answered with ${answer.status}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error("A batch was refused 100 times");
}
