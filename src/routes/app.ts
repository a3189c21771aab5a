import { createApp } from "../http/frame.ts";
import type { Resource } from "../http/resource.ts";
import type { RoutePaths } from "../limits/route-path.ts";
import { accountPageFile } from "./account-pages.ts";
import { audit } from "./audit.ts";
import { auth } from "./auth.ts";
import { authActivity } from "./auth-activity.ts";
import { authDelete } from "./auth-delete.ts";
import { authMailRequests } from "./auth-mail-requests.ts";
import { authMailedTokens } from "./auth-mailed-tokens.ts";
import { authRecovery } from "./auth-recovery.ts";
import { authSessions } from "./auth-sessions.ts";
import { consolePage, missingPage } from "./console.ts";
import { countUnrouted } from "./count-unrouted.ts";
import { dev } from "./dev.ts";
import { docs, docsFile } from "./docs.ts";
import { health } from "./health.ts";
import { acceptances, invitations } from "./invitations.ts";
import { keys } from "./keys.ts";
import { limitedPaths } from "./limit-schema.ts";
import { logger } from "./logger.ts";
import { members } from "./members.ts";
import { oauth } from "./oauth.ts";
import { oauthLinks } from "./oauth-link.ts";
import { operator } from "./operator.ts";
import { playgroundProxy } from "./playground-proxy.ts";
import { projects } from "./projects.ts";
import { rateLimits } from "./rate-limits.ts";
import { sandbox } from "./sandbox.ts";
import { securityTxt } from "./security-txt.ts";
import { usage } from "./usage.ts";
import { violations } from "./violations.ts";
import { workspaces } from "./workspaces.ts";

/** Rules name routes, and are set by one: so the list below is read when the first rule comes. */
let rulePaths: RoutePaths | undefined;
const limits = rateLimits(() => (rulePaths ??= limitedPaths(resources)));

/** Sends to the service's own ingest, which is below. */
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
  projects,
  keys,
  logger,
  sandbox,
  playground,
  limits,
  violations,
  usage,
  audit,
  operator,
  health,
  dev,
];

/** First segments of paths below which the API has routes; the playground's is a page's, too. */
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
