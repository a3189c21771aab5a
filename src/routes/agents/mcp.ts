import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { z } from "zod";
import { version } from "../../../package.json";
import { readBody } from "../../http/body.ts";
import { type AppEnv, bearerToken, finishAfterDisconnect, originOf } from "../../http/context.ts";
import { ERROR_STATUS, type ErrorCode, type Refusal, refuse } from "../../http/errors.ts";
import { bodyOrRefuse, decodeUtf8, JSON_BODY_MAX_BYTES, mediaType, type Resource } from "../../http/resource.ts";
import type { AgentScope } from "../../keys/scopes.ts";
import { chargeMembers } from "../../limits/state.ts";
import { mcpServer, TOOLS, type ToolRunner, toolOf } from "../../mcp/server.ts";
import { ToolFault } from "../../mcp/tool.ts";
import { isLoopback } from "../../platform/loopback.ts";
import { callWorkspace } from "../../rpc/call.ts";
import type { Settings } from "../../settings.ts";
import type { AgentAccess } from "../../workspace/agent-access.ts";
import { countByAddress } from "../guards/address.ts";
import { chargeOfKey, requireApiKey, resultOf } from "../guards/workspace.ts";
import { agentReader, countIfReadRefused, type Reader } from "../logs/reader.ts";
import { resourceMetadataUrl } from "./oauth-metadata.ts";
import { toolPorts } from "./tool-ports.ts";

/** The route under which requests of agents count, whatever they ask. */
const COUNTED_AS = { method: "POST", pattern: "/logger/query", path: "/logger/query" } as const;

/** Adds the MCP server: the stateless revision of 2026-07-28, and the earlier ones with `initialize`. */
export function addMcp(resource: Resource): void {
  resource.route(
    {
      method: "POST",
      path: "/mcp",
      operation: "agent.request",
      tag: "Agents",
      summary: "Serve agents by the Model Context Protocol",
      description: [
        "JSON-RPC of MCP over streamable HTTP, without sessions: revision 2026-07-28 (`server/discover`), and 2025-11-25 and earlier (`initialize`).",
        `Tools: ${TOOLS.map(({ name }) => `\`${name}\``).join(", ")}. \`docs/mcp.md\` describes them and how agents are set up.`,
        "",
        "Accepts an API key with `logs:read`, or the access token of a grant (`docs/agents-oauth.md`). Each request counts as one `POST /logger/query`; the audit has each call of a tool. A batch of",
        "JSON-RPC is refused. Requests of web pages are refused unless their origin is the console's or one of `CORS_ORIGINS`.",
      ].join("\n"),
      security: "agent",
      documentedBody: {
        "application/json": {
          schema: z.looseObject({
            jsonrpc: z.literal("2.0"),
            id: z.union([z.string(), z.int()]).optional(),
            method: z.string().optional(),
            params: z.looseObject({}).optional(),
          }),
          example: { jsonrpc: "2.0", id: 1, method: "tools/list" },
        },
      },
      headers: { "MCP-Protocol-Version": "The revision that the client speaks." },
      status: 200,
      documentedResponse: {
        "application/json": {
          schema: z.looseObject({ jsonrpc: z.literal("2.0") }),
          example: { jsonrpc: "2.0", id: 1, result: { tools: [] } },
        },
      },
      errors: ["VALIDATION_ERROR", "FORBIDDEN", "INSUFFICIENT_SCOPE", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"],
      isForeign: true,
      answerLike: answerLikeMcp,
    },
    [],
    (c) => {
      answerLikeMcp(c);
      return finishAfterDisconnect(c, serve(c));
    },
  );
}

/** Codes of JSON-RPC. */
const RPC = { parse: -32700, request: -32600, params: -32602, refused: -32000, internal: -32603 } as const;

/** Gives refusals the form of JSON-RPC, with the status of the API and the challenge by which a client finds the sign-in. */
function answerLikeMcp(c: Context<AppEnv>): void {
  c.set("answerFailure", ({ code, message, headers }: Refusal, requestId) => {
    const status = ERROR_STATUS[code];
    const rpc = code === "VALIDATION_ERROR" ? RPC.request : status >= 500 ? RPC.internal : RPC.refused;
    return rpcError(status, rpc, message, { code, requestId }, { ...headers, ...challengeOf(c, code, headers) });
  });
}

/** Returns the challenge of a refusal (RFC 6750, RFC 9728). A missing scope is named with the one that every grant has. */
function challengeOf(c: Context<AppEnv>, code: ErrorCode, headers: Refusal["headers"]): Record<string, string> {
  const missing = /scope="([^"]+)"/.exec(headers?.["WWW-Authenticate"] ?? "")?.[1];
  const isScope = code === "INSUFFICIENT_SCOPE" && missing !== undefined;
  if (!isScope && ERROR_STATUS[code] !== 401) return {};
  const error = isScope ? "insufficient_scope" : code === "UNAUTHORIZED" ? null : "invalid_token";
  const scope = isScope && missing !== "logs:read" ? `logs:read ${missing}` : "logs:read";
  const parts = [
    `realm="taffrail"`,
    ...(error === null ? [] : [`error="${error}"`]),
    `scope="${scope}"`,
    `resource_metadata="${resourceMetadataUrl(c.get("settings"))}"`,
  ];
  return { "WWW-Authenticate": `Bearer ${parts.join(", ")}` };
}

function rpcError(
  status: number,
  code: number,
  message: string,
  data: object,
  headers: Readonly<Record<string, string>> = {},
  id: string | number | null = null,
): Response {
  const body = JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });
  return new Response(body, { status, headers: { "Content-Type": "application/json", ...headers } });
}

async function serve(c: Context<AppEnv>): Promise<Response> {
  const requestId = c.get("requestId");
  c.set("route", { ...COUNTED_AS, requestId });
  if (!isAllowedOrigin(c.req.header("Origin"), c.get("settings"))) {
    await countByAddress(c, "API_DEFAULT");
    return refuse("FORBIDDEN", "Requests of this origin are not accepted.");
  }
  const reader = await agentOf(c);
  const { caller, workspaceId } = reader;
  const text = await countIfReadRefused(c, reader, null, () => bodyText(c));
  const message = parsed(text);
  const call = toolCallOf(message);
  c.get("log").tool = call?.tool.name ?? null;
  const asked = {
    caller,
    origin: originOf(c),
    ...(call?.tool.scope === undefined ? {} : { scope: call.tool.scope }),
    tool: call?.tool.name ?? null,
    question: call?.question ?? null,
    wantsHealth: call?.tool.name === "ingest_health",
    ...chargeMembers(reader.charge),
  };
  const access = await resultOf(c, await callWorkspace(c.env, workspaceId, "once", (stub) => stub.admitAgent(asked)));
  if (message === undefined) return rpcError(400, RPC.parse, "The body is not valid JSON.", { requestId });
  if (Array.isArray(message)) return rpcError(400, RPC.request, "Batches are not supported.", { requestId });
  return answer(c, message, runnerOf(c, reader, access), access.scopes ?? ["logs:read"]);
}

const requestShape = z.looseObject({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.int()]),
  method: z.string(),
  params: z.looseObject({}).optional(),
});

/** Params of the methods that have any. */
const PARAMS: Readonly<Record<string, z.ZodType>> = {
  initialize: z.looseObject({
    protocolVersion: z.string(),
    capabilities: z.looseObject({}),
    clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
  }),
  "tools/list": z.looseObject({ cursor: z.string().optional() }).optional(),
  "tools/call": z.looseObject({
    name: z.string().refine((name) => toolOf(name) !== null, "There is no tool of this name."),
    arguments: z.looseObject({}).optional(),
  }),
};

/** Returns what is wrong with the params of a request; `null` if nothing is. The SDK would send the issues of its schemas as JSON. */
function paramsProblem(message: unknown, isLegacy: boolean): { id: string | number; message: string } | null {
  const request = requestShape.safeParse(message);
  if (!request.success) return null;
  const { id, method, params } = request.data;
  // The stateless revision does not have it, whatever its params.
  if (method === "initialize" && !isLegacy) return null;
  const shape = Object.hasOwn(PARAMS, method) ? PARAMS[method] : undefined;
  const [issue] = shape?.safeParse(params).error?.issues ?? [];
  return issue === undefined ? null : { id, message: `${["params", ...issue.path].join(".")}: ${issue.message}` };
}

/** Returns the agent by an API key, or by the token of a grant. */
async function agentOf(c: Context<AppEnv>): Promise<Reader> {
  const token = bearerToken(c);
  const reader = token === null ? null : await agentReader(c, token);
  if (reader !== null) return reader;
  if (token === null) {
    await countByAddress(c, "API_DEFAULT");
    return refuse("UNAUTHORIZED", "Sign in by OAuth, or send an API key as Authorization: Bearer.");
  }
  const key = await requireApiKey(c, token);
  const { hash, workspaceId } = key;
  c.get("log").workspaceId = workspaceId;
  return { caller: { kind: "key", hash }, workspaceId, charge: await chargeOfKey(c, key, "reads", 1) };
}

/**
 * Pages of other origins must not use an agent's key by way of the browser (DNS rebinding). Agents send no `Origin`.
 */
function isAllowedOrigin(origin: string | undefined, settings: Settings): boolean {
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  const { BASE_URL, FRONTEND_URL, CORS_ORIGINS } = settings;
  if ([new URL(BASE_URL).origin, new URL(FRONTEND_URL).origin, ...CORS_ORIGINS].includes(origin)) return true;
  return isLoopback(new URL(BASE_URL)) && isLoopback(new URL(origin));
}

async function bodyText(c: Context<AppEnv>): Promise<string> {
  if (mediaType(c.req.header("Content-Type")) !== "application/json") {
    refuse("UNSUPPORTED_MEDIA_TYPE", "Send the message as Content-Type: application/json.");
  }
  const body = await readBody(c.req.raw, JSON_BODY_MAX_BYTES);
  try {
    return decodeUtf8(bodyOrRefuse(body, JSON_BODY_MAX_BYTES).bytes);
  } finally {
    if (body.ok) body.lease.release();
  }
}

/** @returns `undefined` for invalid JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const callShape = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ name: z.string(), arguments: z.unknown() }),
});

/** Returns the tool that a message calls, and what it asks as the audit shows it. */
function toolCallOf(message: unknown) {
  const call = callShape.safeParse(message);
  const tool = call.success ? toolOf(call.data.params.name) : null;
  if (!call.success || tool === null) return null;
  const args = tool.input.safeParse(call.data.params.arguments ?? {});
  return { tool, question: args.success ? tool.question(args.data) : null };
}

function runnerOf(c: Context<AppEnv>, reader: Reader, access: AgentAccess): ToolRunner {
  return {
    run: async (tool, args) => {
      try {
        const answer = await tool.run(args, toolPorts(c, reader, access));
        c.get("log").rows = answer.head.returned;
        return answer;
      } catch (error) {
        c.get("log").outcome = error instanceof ToolFault ? "refused" : "INTERNAL_ERROR";
        if (!(error instanceof ToolFault)) c.get("log").fault = error instanceof Error ? error.name : "unknown";
        throw error;
      }
    },
  };
}

/** Answers one message. Each request has a server of its own, so nothing of a caller is left to the next one. */
async function answer(
  c: Context<AppEnv>,
  message: unknown,
  runner: ToolRunner,
  scopes: readonly AgentScope[],
): Promise<Response> {
  const request = c.req.raw;
  const options = { parsedBody: message };
  const isLegacy = await isLegacyRequest(request, message);
  const problem = paramsProblem(message, isLegacy);
  if (problem !== null) {
    return rpcError(200, RPC.params, problem.message, { requestId: c.get("requestId") }, {}, problem.id);
  }
  if (isLegacy) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await mcpServer(version, runner, scopes).connect(transport);
    return transport.handleRequest(request, options);
  }
  // An answer is JSON by default, because tools send no notifications. The mode `json` would write a warning for each request.
  const handler = createMcpHandler(() => mcpServer(version, runner, scopes), { legacy: "reject" });
  return handler.fetch(request, options);
}
