import type { Context, Next } from "hono";
import { z } from "zod";
import { createProxy } from "../../../sdk/src/proxy/index.ts";
import { type AppEnv, clientAddress, noteLimit, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { ERROR_STATUS, type ErrorCode, refuse } from "../../http/errors.ts";
import { type Resource, resource } from "../../http/resource.ts";
import type { LimitState } from "../../limits/state.ts";
import { receiptSchema } from "../../logs/ingest/entry-schema.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { SANDBOX_BUDGETS, SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import { EXAMPLE } from "../examples.ts";
import { countByAddress } from "../guards/address.ts";
import { budgetLeft } from "../guards/workspace.ts";
import { addSandboxPreview } from "./sandbox-preview.ts";

const { entries, reads } = SANDBOX_BUDGETS;

const sandboxSchema = z.object({
  workspaceId: z.string(),
  projectId: z.string(),
  apiKey: z.string().describe("`sk_demo_...`, with the scopes `logs:write` and `logs:read`."),
  limits: z.object({
    logsPerHour: z.int().describe("Entries in any hour, per client IP."),
    queriesPerHour: z.int().describe("Reading requests in any hour, per client IP."),
  }),
  resetsAt: z.iso.datetime().describe("At this time the project and the key are replaced."),
});

const leftSchema = z.object({
  limit: z.int(),
  remaining: z.int(),
  resetsAt: z.iso.datetime().describe("The time at which the oldest counted unit leaves the window."),
});

const budgetSchema = z.object({
  entries: leftSchema.describe("Entries sent with the sandbox's key."),
  reads: leftSchema.describe("Requests that read with the sandbox's key."),
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
      "A project to try the service without an account, with six hours of logs of a small web shop. The key",
      "works on the ordinary routes below `/logger`, with only the limits named here. All clients share the sandbox",
      "and see each other's entries. Every six hours it is replaced, with another project and another key.",
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
    summary: "Get the remaining budgets of the sandbox",
    description: "For the caller's client IP. The request uses no budget.",
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

addSandboxPreview(sandbox);

async function countCaller(c: Context<AppEnv>, next: Next): Promise<void> {
  await countByAddress(c, "API_DEFAULT");
  await next();
}

function left({ limit, remaining, resetAt }: LimitState): z.output<typeof leftSchema> {
  return { limit, remaining, resetsAt: new Date(resetAt).toISOString() };
}

/** Sends a request to the service itself, like one from outside. */
export type Service = (request: Request, c: Context<AppEnv>) => Response | Promise<Response>;

/** Headers that identify the client. Each client IP has a separate budget in the sandbox. */
const ADDRESS_HEADERS = ["CF-Connecting-IP", "X-Forwarded-For"] as const;

/**
 * Refusals of the ingest that the browser gets. Any other failure between here and the sandbox is a fault of the
 * service.
 */
const TOLD: Readonly<Record<number, ErrorCode>> = {
  400: "VALIDATION_ERROR",
  403: "FORBIDDEN",
  409: "IDEMPOTENCY_CONFLICT",
  413: "PAYLOAD_TOO_LARGE",
  429: "RATE_LIMITED",
};

/** Seconds after which a page may retry if its entries could not be passed on, for example during a reset. */
const RETRY_SECONDS = "2";

/**
 * Endpoint of the playground's page, which uses `taffrail/browser`: the handler of `taffrail/proxy`, as an application
 * has it on its server, with the sandbox's key. So the page logs without a key.
 */
export function playgroundProxy(service: Service): Resource {
  const playground = resource();
  playground.route(
    {
      method: "POST",
      path: "/playground/logs",
      operation: "playground.send",
      tag: "Sandbox",
      summary: "Send entries to the sandbox from a page of this origin",
      description: [
        "For `taffrail/browser` in the playground: accepts the body of an ingest request, adds the sandbox's key and forwards it.",
        "Only requests with the `Origin` of this host are accepted. At most 64 KiB and 500 entries a request;",
        "an entry keeps its own members, and `data.source` is always `browser`. Entries count in the",
        "budget of the caller's IP address, like entries sent with the key.",
      ].join("\n"),
      security: "none",
      documentedBody: {
        "application/x-ndjson": { schema: z.string().describe("One entry per line."), example: EXAMPLE.ndjson },
      },
      headers: { "Idempotency-Key": "1 to 100 printable ASCII characters; `?id=` in the URL is accepted, too." },
      status: 201,
      response: receiptSchema,
      errors: [
        "VALIDATION_ERROR",
        "FORBIDDEN",
        "IDEMPOTENCY_CONFLICT",
        "PAYLOAD_TOO_LARGE",
        "RATE_LIMITED",
        "SERVICE_UNAVAILABLE",
      ],
    },
    [
      async (c, next) => {
        // Requests that the guards refuse never reach the budget, so they count here.
        await countByAddress(c, "API_DEFAULT");
        await next();
      },
    ],
    (c) => send(c, service),
  );
  return playground;
}

async function send(c: Context<AppEnv>, service: Service): Promise<Response> {
  const { projectId, apiKey } = await callWorkspace(c.env, SANDBOX_WORKSPACE_ID, "replay-safe", (stub) =>
    stub.sandbox(originOf(c)),
  );
  const proxy = createProxy({
    apiUrl: new URL(c.req.url).origin,
    projectId,
    apiKey,
    // The route already counts by client IP, over all instances.
    rateLimit: false,
    clientAddress: () => clientAddress(c),
    async fetch(input, init) {
      const request = new Request(input, init);
      for (const name of ADDRESS_HEADERS) {
        const value = c.req.header(name);
        if (value !== undefined) request.headers.set(name, value);
      }
      request.headers.set("X-Request-Id", c.get("requestId"));
      const answer = await service(request, c);
      keepLimit(c, answer);
      return answer;
    },
  });
  const answer = await proxy(c.req.raw);
  if (answer.ok) return new Response(answer.body, { status: answer.status, headers: JSON_HEADERS });
  return forwardRefusal(answer);
}

const JSON_HEADERS = { "Content-Type": "application/json" };

/** Copies the limit state of the ingest's response, which is that of the client's budget. */
function keepLimit(c: Context<AppEnv>, { status, headers }: Response): void {
  const [limit, remaining, reset] = ["Limit", "Remaining", "Reset"].map((name) => headers.get(`X-RateLimit-${name}`));
  if (limit == null || remaining == null || reset == null) return;
  noteLimit(c, {
    admitted: status !== 429,
    limit: Number(limit),
    remaining: Number(remaining),
    resetAt: Number(reset) * 1000,
    retryAfter: Number(headers.get("Retry-After") ?? 0) * 1000,
  });
}

const refusalSchema = z.object({
  error: z.object({ message: z.string(), details: z.array(z.looseObject({})).min(1).optional() }),
});

/** Repeats the refusal with this request's id, and a code of the API's list. */
async function forwardRefusal(answer: Response): Promise<never> {
  const code = TOLD[answer.status];
  const refusal = refusalSchema.safeParse(await answer.json().catch(() => null));
  if (code === undefined || !refusal.success || ERROR_STATUS[code] !== answer.status) {
    return refuse("SERVICE_UNAVAILABLE", "The entries could not be forwarded. Try again.", {
      headers: { "Retry-After": answer.headers.get("Retry-After") ?? RETRY_SECONDS },
    });
  }
  const { message, details } = refusal.data.error;
  return refuse(code, message, details ? { details } : {});
}
