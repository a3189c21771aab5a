import type { Context, Next } from "hono";
import { z } from "zod";
import type { AppEnv } from "../http/context.ts";
import { success } from "../http/envelope.ts";
import { originOf } from "../http/origin.ts";
import { resource } from "../http/resource.ts";
import type { LimitState } from "../limits/state.ts";
import { callWorkspace } from "../objects/stubs.ts";
import { SANDBOX_BUDGETS, SANDBOX_WORKSPACE_ID } from "../sandbox/sandbox.ts";
import { countByAddress } from "./address-limits.ts";
import { budgetLeft } from "./sandbox-budget.ts";

const { entries, reads } = SANDBOX_BUDGETS;

const sandboxSchema = z.object({
  workspaceId: z.string(),
  projectId: z.string(),
  apiKey: z.string().describe("`sk_demo_...`, with the scopes `logs:write` and `logs:read`."),
  limits: z.object({
    logsPerHour: z.int().describe("Entries in any hour, per client address."),
    queriesPerHour: z.int().describe("Reading requests in any hour, per client address."),
  }),
  resetsAt: z.iso.datetime().describe("From then on there is another project with another key."),
});

const leftSchema = z.object({
  limit: z.int(),
  remaining: z.int(),
  resetsAt: z.iso.datetime().describe("When the oldest that counts stops counting."),
});

const budgetSchema = z.object({
  entries: leftSchema.describe("Entries sent with the sandbox's key."),
  reads: leftSchema.describe("Requests that read with it."),
});

export const sandbox = resource();

sandbox.route(
  {
    method: "GET",
    path: "/sandbox",
    operation: "sandbox.get",
    tag: "Sandbox",
    summary: "Get the sandbox's key",
    description: [
      "A project to try the service on without an account, with what a small web shop has logged in six hours. The key",
      "works on the ordinary routes below `/logger`, where only the limits named here apply. Everybody shares the sandbox",
      "and sees what others send. Every six hours there is a new one, with another project and another key.",
    ].join("\n"),
    security: "none",
    status: 200,
    response: sandboxSchema,
    errors: ["SERVICE_UNAVAILABLE"],
  },
  [countCaller],
  async (c) => {
    const { projectId, apiKey, resetsAt } = await callWorkspace(c.env, SANDBOX_WORKSPACE_ID, "replay-safe", (stub) =>
      stub.sandbox(originOf(c)),
    );
    const limits = { logsPerHour: entries.limit, queriesPerHour: reads.limit };
    const resets = { resetsAt: new Date(resetsAt).toISOString() };
    const data = { workspaceId: SANDBOX_WORKSPACE_ID, projectId, apiKey, limits, ...resets };
    const answer = success(data, c.get("requestId"));
    answer.headers.set("Cache-Control", "no-store");
    return answer;
  },
);

sandbox.route(
  {
    method: "GET",
    path: "/sandbox/budget",
    operation: "sandbox.budget",
    tag: "Sandbox",
    summary: "See what is left of the sandbox's budgets",
    description: "Of the caller's address. Asking spends nothing of them.",
    security: "none",
    status: 200,
    response: budgetSchema,
    errors: ["SERVICE_UNAVAILABLE"],
  },
  [countCaller],
  async (c) => {
    const [entries, reads] = await Promise.all([budgetLeft(c, "entries"), budgetLeft(c, "reads")]);
    const answer = success({ entries: left(entries), reads: left(reads) }, c.get("requestId"));
    answer.headers.set("Cache-Control", "no-store");
    return answer;
  },
);

async function countCaller(c: Context<AppEnv>, next: Next): Promise<void> {
  await countByAddress(c, "API_DEFAULT");
  await next();
}

function left({ limit, remaining, resetAt }: LimitState): z.output<typeof leftSchema> {
  return { limit, remaining, resetsAt: new Date(resetAt).toISOString() };
}
