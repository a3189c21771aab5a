import type { Env } from "./env.ts";
import type { ViolationMessage } from "./limits/violations.ts";
import type { MailMessage } from "./mail/mail.ts";
import { handleHostCommands, inFlight } from "./objects/host-control.ts";
import { consumeMails, logDeadMails } from "./objects/queues/mails.ts";
import { consumeViolations, noteDeadViolations } from "./objects/queues/violations.ts";
import { countStartedRequest } from "./platform/turns.ts";
import { app } from "./routes/app.ts";
import { callWorkspace } from "./rpc/call.ts";
import { SANDBOX_WORKSPACE_ID } from "./sandbox/sandbox.ts";

export { AddressObject } from "./objects/address/address.ts";
export { CompactorObject } from "./objects/compactor/compactor.ts";
export { MatcherObject } from "./objects/matcher/matcher.ts";
export { ScannerObject } from "./objects/scanner/scanner.ts";
export { UserObject } from "./objects/user/user.ts";
export { AlertMatcher } from "./objects/workspace/alert-matcher.ts";
export { ColdWriter, TailBacklog } from "./objects/workspace/entrypoints.ts";
export { WorkspaceObject } from "./objects/workspace/workspace.ts";

/** Each queue of wrangler.toml by its name. */
async function consume(batch: MessageBatch, env: Env): Promise<void> {
  // SAFETY: what each queue carries is decided by the type of its one producer binding.
  const mails = batch as MessageBatch<MailMessage>;
  const violations = batch as MessageBatch<ViolationMessage>;
  switch (batch.queue) {
    case "taffrail-mail":
      return consumeMails(mails, env);
    case "taffrail-mail-dead":
      return logDeadMails(mails, env);
    case "taffrail-violations":
      return consumeViolations(violations, env);
    case "taffrail-violations-dead":
      return noteDeadViolations(violations, env);
    default:
      throw new Error(`No consumer for the queue ${batch.queue}.`);
  }
}

/** The cron trigger of wrangler.toml. It may come twice, and the sandbox's own alarm is set to the same time. */
async function resetSandbox({ scheduledTime }: ScheduledController, env: Env): Promise<void> {
  await callWorkspace(env, SANDBOX_WORKSPACE_ID, "replay-safe", (stub) => stub.resetSandbox(scheduledTime));
}

const handlers = {
  fetch: (request, env, ctx) => {
    countStartedRequest();
    return app.fetch(request, env, ctx);
  },
  queue: consume,
  scheduled: resetSandbox,
} satisfies ExportedHandler<Env>;

export default handlers;

/**
 * `fetch` under a name: `npm start` binds its socket straight to it, without a proxy worker in between. Nothing else:
 * the local runtime lets any process that reaches that socket send any event that its entrypoint handles.
 */
export const direct = {
  fetch: (request, env, ctx) => inFlight.track(() => handlers.fetch(request, env, ctx)),
} satisfies ExportedHandler<Env>;

/** The entrypoint to which `npm start` binds its control socket. */
export const control = { fetch: handleHostCommands } satisfies ExportedHandler<Env>;
