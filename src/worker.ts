import type { Env } from "./env.ts";
import type { MailMessage } from "./mail/message.ts";
import { consumeMails, noteDeadMails } from "./objects/mail-consumer.ts";
import { app } from "./routes/app.ts";

export { AddressObject } from "./objects/address.ts";
export { UserObject } from "./objects/user.ts";
export { WorkspaceObject } from "./objects/workspace.ts";

/** Named in wrangler.toml. */
const DEAD_MAILS = "taffrail-mail-dead";

const handlers = {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
  queue: (batch, env) => (batch.queue === DEAD_MAILS ? noteDeadMails(batch, env) : consumeMails(batch, env)),
} satisfies ExportedHandler<Env, MailMessage>;

export default handlers;

/**
 * `fetch` under a name: `npm start` binds its socket straight to it, without a proxy worker in between. Nothing else:
 * the local runtime lets whoever reaches that socket send any event that its entrypoint handles.
 */
export const direct = { fetch: handlers.fetch } satisfies ExportedHandler<Env>;
