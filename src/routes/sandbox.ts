import { z } from "zod";
import { success } from "../http/envelope.ts";
import { resource } from "../http/resource.ts";
import { callWorkspace } from "../objects/stubs.ts";
import { SANDBOX_BUDGETS, SANDBOX_WORKSPACE_ID } from "../sandbox/sandbox.ts";
import { countByAddress } from "./address-limits.ts";

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
  [
    async (c, next) => {
      await countByAddress(c, "API_DEFAULT");
      await next();
    },
  ],
  async (c) => {
    const { projectId, apiKey, resetsAt } = await callWorkspace(c.env, SANDBOX_WORKSPACE_ID, "replay-safe", (stub) =>
      stub.sandbox(),
    );
    const limits = { logsPerHour: entries.limit, queriesPerHour: reads.limit };
    const resets = { resetsAt: new Date(resetsAt).toISOString() };
    const data = { workspaceId: SANDBOX_WORKSPACE_ID, projectId, apiKey, limits, ...resets };
    const answer = success(data, c.get("requestId"));
    answer.headers.set("Cache-Control", "no-store");
    return answer;
  },
);
