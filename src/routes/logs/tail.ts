import type { Context } from "hono";
import { z } from "zod";
import { type AppEnv, clientAddress, noteLimit, originOf } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse, refuseFields } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import { COUNTED, chargeMembers, type LimitState } from "../../limits/state.ts";
import { counted } from "../../platform/bytes.ts";
import { callWorkspace, fetchWorkspace, unavailable } from "../../rpc/call.ts";
import {
  TAIL_CALL_HEADER,
  TAIL_LIMIT_HEADER,
  TAIL_REFUSAL_HEADER,
  type TailCall,
  type TailFailure,
} from "../../rpc/tail.ts";
import { SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import { openTicket, type TailAuthority } from "../../tail/authority.ts";
import { TAIL_LIMITS, TAIL_PROGRESS_MS, TICKET_LIFETIME_MS } from "../../tail/limits.ts";
import { readTailQuery, TailParameters, type TailQuery } from "../../tail/query.ts";
import { countByAddress } from "../guards/address.ts";
import { chargeOfRoute, refuseFailure } from "../guards/workspace.ts";
import { countIfReadRefused, type Reader, readerOf } from "./reader.ts";

export function addTail(logger: Resource): void {
  logger.route(
    {
      method: "GET",
      path: "/logger/:projectId/tail",
      operation: "workspace.tail",
      tag: "Logs",
      summary: "Follow a project's log entries over a WebSocket",
      description: [
        'Frames: `{"type":"logs","entries":[...]}` with at most 500 new entries;',
        '`{"type":"caught-up","seq":n}` each time the newest entry was reached, and at least every',
        `${TAIL_PROGRESS_MS / 1000} s if \`seq\` rose without a matching entry: everything up to \`n\` was examined;`,
        '`{"type":"error","code":"..."}` before a close. Send `{"type":"ack","seq":n}` at least every',
        `${counted(TAIL_LIMITS.ackEveryEntries)} entries and for each \`caught-up\`.`,
        "Closed with 4001 once key, session, membership or project has ended, with 4008 and the reason `since=<seq>`",
        `if the client is ${counted(TAIL_LIMITS.unackedEntries)} entries behind its acknowledgements, and with 1001 and that reason`,
        "if the service restarts. With `since` a tail continues after a `seq`, without gaps or duplicates.",
        "Accepts the same credentials as a query, or the query parameter `ticket`.",
      ].join("\n"),
      security: "either",
      documentedQuery: TailParameters,
      headers: {
        Upgrade: "`websocket`",
        "X-Workspace-Id": "Required with an access token: the workspace of the project.",
      },
      status: 101,
      response: z.null(),
      errors: [
        "VALIDATION_ERROR",
        "INVALID_TOKEN",
        "TOKEN_EXPIRED",
        "NOT_FOUND",
        "FORBIDDEN",
        "INSUFFICIENT_SCOPE",
        "CONFLICT",
      ],
    },
    [],
    openTail,
  );
  logger.route(
    {
      method: "POST",
      path: "/logger/:projectId/tail/ticket",
      operation: "workspace.tail.ticket",
      tag: "Logs",
      summary: "Get a ticket for one tail",
      description: `For browsers, whose WebSockets send no headers. Valid once, for ${TICKET_LIFETIME_MS / 1000} s and for this project, with the permissions of the caller.`,
      security: "either",
      headers: { "X-Workspace-Id": "Required with an access token: the workspace of the project." },
      status: 201,
      response: z.object({ ticket: z.string(), expiresAt: z.iso.datetime() }),
      errors: ["VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPE"],
    },
    [],
    makeTicket,
  );
}

async function openTail(c: Context<AppEnv>): Promise<Response> {
  const projectId = projectOf(c);
  const params = new URL(c.req.url).searchParams;
  const ticket = params.get("ticket");
  const call =
    ticket === null ? await callOfReader(c, projectId, params) : await callOfTicket(c, projectId, params, ticket);
  const answer = await fetchWorkspace(c.env, call.workspaceId, tailRequest(call));
  if (answer.webSocket === null) {
    const refusal = decodeURIComponent(answer.headers.get(TAIL_REFUSAL_HEADER) ?? "");
    // SAFETY: the object wrote it.
    return refuseTail(c, JSON.parse(refusal) as TailFailure);
  }
  const limit = answer.headers.get(TAIL_LIMIT_HEADER);
  // SAFETY: the object wrote it.
  noteLimit(c, limit === null ? null : (JSON.parse(limit) as LimitState));
  return new Response(null, { status: 101, webSocket: answer.webSocket });
}

type AddressedCall = TailCall & { workspaceId: string };

async function callOfReader(c: Context<AppEnv>, projectId: string, params: URLSearchParams): Promise<AddressedCall> {
  const reader = await readerOf(c);
  const query = await countIfReadRefused(c, reader, projectId, () => readRequest(c, params));
  const { charge, workspaceId } = reader;
  return {
    reader: authorityOf(c, reader),
    projectId,
    ...chargeMembers(charge),
    origin: originOf(c),
    workspaceId,
    ...query,
    ...addressOf(c, workspaceId),
  };
}

/** Reads the call of a ticket. The reader is not known yet, so an invalid request counts by client IP. */
async function callOfTicket(
  c: Context<AppEnv>,
  projectId: string,
  params: URLSearchParams,
  text: string,
): Promise<AddressedCall> {
  const ticket = openTicket(text);
  // The sandbox's ticket was charged when it was made. The requests that use it count by client IP.
  const isDemo = ticket?.workspaceId === SANDBOX_WORKSPACE_ID;
  if (ticket === null || isDemo) await countByAddress(c, "API_DEFAULT");
  if (ticket === null) return refuseTicket("INVALID_TOKEN");
  const { workspaceId, hash } = ticket;
  c.get("log").workspaceId = workspaceId;
  let query: TailQuery;
  try {
    query = readRequest(c, params);
  } catch (error) {
    if (!isDemo) await countByAddress(c, "API_DEFAULT");
    throw error;
  }
  const charge = isDemo ? COUNTED : chargeOfRoute(c);
  return {
    reader: { kind: "ticket", hash },
    projectId,
    ...chargeMembers(charge),
    origin: originOf(c),
    workspaceId,
    ...query,
    ...addressOf(c, workspaceId),
  };
}

/** In the sandbox all clients share the key, so there a client IP is a reader. */
export function addressOf(c: Context<AppEnv>, workspaceId: string): Pick<TailCall, "address"> {
  return workspaceId === SANDBOX_WORKSPACE_ID ? { address: clientAddress(c) } : {};
}

/** Parses the request of a tail. Ends an invalid one, and one that does not ask for a WebSocket. */
function readRequest(c: Context<AppEnv>, params: URLSearchParams): TailQuery {
  const result = readTailQuery(params);
  if (!result.ok) refuseFields(result.details);
  if (c.req.method !== "GET" || c.req.header("Upgrade")?.toLowerCase() !== "websocket") {
    refuse("VALIDATION_ERROR", "This is a WebSocket: send Upgrade: websocket.", {
      details: [{ path: "Upgrade", code: "required", message: "must be websocket." }],
    });
  }
  return result.query;
}

/** Encoded, because a header's value is Latin-1 and a filter need not be. */
export function tailRequest({ workspaceId: _addressee, ...call }: AddressedCall): Request {
  const headers = { Upgrade: "websocket", [TAIL_CALL_HEADER]: encodeURIComponent(JSON.stringify(call)) };
  return new Request("http://workspace/tail", { headers });
}

export async function refuseTail(c: Context<AppEnv>, failure: TailFailure): Promise<never> {
  const { code, limit } = failure;
  switch (code) {
    case "INVALID_TOKEN":
    case "TOKEN_EXPIRED":
      if (c.get("limit") === null) await countByAddress(c, "API_DEFAULT");
      return refuseTicket(code);
    case "SESSION_REVOKED":
      noteLimit(c, limit);
      return refuse("SESSION_REVOKED", "The session of this access token has ended. Sign in again.");
    case "SERVICE_UNAVAILABLE":
      noteLimit(c, limit);
      throw unavailable();
    case "FUTURE_SEQ":
      noteLimit(c, limit);
      return refuseFields([
        { path: "query.since", code: "custom", message: "The project has no entry with this seq yet." },
      ]);
    default:
      return refuseFailure(c, { ...failure, code });
  }
}

function refuseTicket(code: "INVALID_TOKEN" | "TOKEN_EXPIRED"): never {
  const why = code === "TOKEN_EXPIRED" ? "has expired" : "is not valid, or has been used";
  return refuse(code, `The ticket ${why}. Get a new one with POST /logger/{projectId}/tail/ticket.`);
}

async function makeTicket(c: Context<AppEnv>): Promise<Response> {
  const projectId = projectOf(c);
  const reader = await readerOf(c);
  const { workspaceId, charge } = reader;
  const call = { reader: authorityOf(c, reader), projectId, ...chargeMembers(charge) };
  const result = await callWorkspace(c.env, workspaceId, "once", (stub) => stub.tailTicket(call));
  if (!result.ok) return refuseFailure(c, result);
  noteLimit(c, result.limit);
  const { ticket, expiresAt } = result;
  const answer = success({ ticket, expiresAt: new Date(expiresAt).toISOString() }, c.get("requestId"), 201);
  answer.headers.set("Cache-Control", "no-store");
  return answer;
}

function projectOf(c: Context<AppEnv>): string {
  return c.req.param("projectId") ?? "";
}

/** The authority of a user's tail includes the session that opened it. */
export function authorityOf(c: Context<AppEnv>, { caller }: Reader): TailAuthority {
  return caller.kind === "user" ? { ...caller, sessionId: c.get("user").sessionId } : caller;
}
