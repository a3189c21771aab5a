import type { Env } from "./env.ts";
import { app } from "./routes/app.ts";

export { AddressObject } from "./objects/address.ts";
export { UserObject } from "./objects/user.ts";
export { WorkspaceObject } from "./objects/workspace.ts";

const handlers = {
  fetch: (request, env, ctx) => app.fetch(request, env, ctx),
} satisfies ExportedHandler<Env>;

export default handlers;

/** The same handlers under a name: `npm start` binds its socket straight to it, without a proxy worker in between. */
export const direct = handlers;
