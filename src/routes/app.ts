import { createApp } from "../http/frame.ts";
import { auth } from "./auth.ts";
import { authMail } from "./auth-mail.ts";
import { authSessions } from "./auth-sessions.ts";
import { accountPage } from "./confirm-page.ts";
import { countUnrouted } from "./count-unrouted.ts";
import { dev } from "./dev.ts";
import { docs, docsFile } from "./docs.ts";
import { health } from "./health.ts";
import { keys } from "./keys.ts";
import { logger } from "./logger.ts";
import { oauth } from "./oauth.ts";
import { oauthLinks } from "./oauth-link.ts";
import { projects } from "./projects.ts";
import { workspaces } from "./workspaces.ts";

/** Every resource of the API, in the order in which its reference shows them. */
const resources = [auth, authSessions, authMail, oauth, oauthLinks, projects, keys, logger, workspaces, health, dev];

export const app = createApp({
  resources: [...resources, docs(resources)],
  countUnrouted,
  fallback: async (c) => (await docsFile(c)) ?? accountPage(c),
});
