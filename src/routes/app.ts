import { createApp } from "../http/pipeline.ts";
import { type Resource, resource } from "../http/resource.ts";
import type { RoutePaths } from "../limits/cascade.ts";
import { grants } from "./agents/consent.ts";
import { addLlmsTxt } from "./agents/llms-txt.ts";
import { addMcp } from "./agents/mcp.ts";
import { addOAuthEndpoints } from "./agents/oauth-endpoints.ts";
import { addOAuthMetadata } from "./agents/oauth-metadata.ts";
import { authActivity, authDelete } from "./auth/account.ts";
import { auth } from "./auth/login.ts";
import { authMailRequests } from "./auth/mail-requests.ts";
import { authMailedTokens } from "./auth/mailed-tokens.ts";
import { oauth } from "./auth/oauth.ts";
import { oauthLinks } from "./auth/oauth-link.ts";
import { authRecovery } from "./auth/recovery.ts";
import { authSessions } from "./auth/sessions.ts";
import { addDatadog } from "./doors/datadog.ts";
import { addDrains } from "./doors/drains.ts";
import { addElasticsearch } from "./doors/elasticsearch.ts";
import { addJournal } from "./doors/journal.ts";
import { addLineDoors } from "./doors/lines.ts";
import { addLoki } from "./doors/loki.ts";
import { addOtlpDoor } from "./doors/otlp.ts";
import { addPlainDoor } from "./doors/plain.ts";
import { addSplunk } from "./doors/splunk.ts";
import { countUnrouted } from "./guards/address.ts";
import { addContext } from "./logs/context.ts";
import { addExport } from "./logs/export.ts";
import { addIngest } from "./logs/ingest.ts";
import { addQuery, addStats } from "./logs/query.ts";
import { addSearch } from "./logs/search.ts";
import { addTail } from "./logs/tail.ts";
import { addLokiLines } from "./loki/lines.ts";
import { addLokiMetadata } from "./loki/metadata.ts";
import { addLokiQueries } from "./loki/query.ts";
import { addLokiTail } from "./loki/tail.ts";
import { consolePage, missingPage } from "./site/console.ts";
import { dev } from "./site/dev.ts";
import { docs, docsFile, securityTxt } from "./site/docs.ts";
import { health } from "./site/health.ts";
import { operator } from "./site/operator.ts";
import { operatorFiles } from "./site/operator-files.ts";
import { accountPageFile } from "./site/pages.ts";
import { playgroundProxy, sandbox } from "./site/sandbox.ts";
import { alertSets } from "./workspaces/alert-sets.ts";
import { alerts } from "./workspaces/alerts.ts";
import { audit } from "./workspaces/audit.ts";
import { boards } from "./workspaces/boards.ts";
import { destinations } from "./workspaces/destinations.ts";
import { acceptances, invitations } from "./workspaces/invitations.ts";
import { keys } from "./workspaces/keys.ts";
import { ledger } from "./workspaces/ledger.ts";
import { limitedPaths, rateLimits, violations } from "./workspaces/limits.ts";
import { mailedAddresses } from "./workspaces/mailed-addresses.ts";
import { members } from "./workspaces/members.ts";
import { notifications } from "./workspaces/notifications.ts";
import { projects } from "./workspaces/projects.ts";
import { usage } from "./workspaces/usage.ts";
import { usageDays } from "./workspaces/usage-days.ts";
import { views } from "./workspaces/views.ts";
import { workspaceKeys } from "./workspaces/workspace-keys.ts";
import { workspaces } from "./workspaces/workspaces.ts";

export const logger = resource();

addQuery(logger);
addStats(logger);
addSearch(logger);
addContext(logger);
addExport(logger);
addTail(logger);
addIngest(logger);

/** Routes in the protocols of other clients. */
export const doors = resource();

addPlainDoor(doors);
addLineDoors(doors);
addDrains(doors);
addJournal(doors);
addLoki(doors);
addElasticsearch(doors);
addSplunk(doors);
addDatadog(doors);
addOtlpDoor(doors);

/** Routes of agents. */
export const agents = resource();

addMcp(agents);
addLlmsTxt(agents);
addOAuthMetadata(agents);
addOAuthEndpoints(agents);

/** Loki's read API, for Grafana and logcli. */
export const loki = resource();

addLokiQueries(loki);
addLokiMetadata(loki);
addLokiLines(loki);
addLokiTail(loki);

/**
 * Paths that a limit rule may name. Read at the first rule, because `resources` below contains the route that sets
 * rules.
 */
let rulePaths: RoutePaths | undefined;
const limits = rateLimits(() => (rulePaths ??= limitedPaths(resources)));

/** Sends to the service's ingest, which is defined below. */
const playground = playgroundProxy((request, c) => app.fetch(request, c.env, c.executionCtx));

/** Every resource of the API, in the order in which its reference shows them. */
const resources: Resource[] = [
  auth,
  authSessions,
  authActivity,
  authMailRequests,
  authMailedTokens,
  oauth,
  oauthLinks,
  authRecovery,
  authDelete,
  workspaces,
  members,
  invitations,
  acceptances,
  mailedAddresses,
  projects,
  keys,
  workspaceKeys,
  logger,
  doors,
  agents,
  grants,
  loki,
  sandbox,
  playground,
  limits,
  violations,
  usage,
  usageDays,
  audit,
  views,
  boards,
  destinations,
  notifications,
  alerts,
  alertSets,
  ledger,
  operator,
  operatorFiles,
  health,
  dev,
];

/** First segments of paths below which the API has routes. `/playground` is excluded: it is also a page. */
const groups = new Set(
  resources.flatMap(({ specs }) =>
    specs.map(({ path }) => path.split("/")).flatMap(([, first = "", ...rest]) => (rest.length > 0 ? [first] : [])),
  ),
);
groups.delete("playground");

function isOfApi(path: string): boolean {
  return groups.has(path.split("/", 2)[1] ?? "");
}

export const app = createApp({
  resources: [...resources, docs(resources), securityTxt],
  countUnrouted,
  fallback: async (c) =>
    (await docsFile(c)) ?? (await consolePage(c)) ?? (await accountPageFile(c)) ?? missingPage(c, isOfApi),
});
