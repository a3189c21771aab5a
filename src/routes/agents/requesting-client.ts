import type { Context } from "hono";
import {
  type AuthorizationRequest,
  checkRequest,
  type RequestProblem,
  requestedClient,
} from "../../grants/authorization-request.ts";
import type { AgentClient } from "../../grants/client.ts";
import {
  type DocumentOutcome,
  documentUrlProblem,
  fetchClient,
  isDocumentId,
  keptClient,
} from "../../grants/client-document.ts";
import { registeredClient } from "../../grants/registered-client.ts";
import type { AppEnv } from "../../http/context.ts";
import { isLoopback } from "../../platform/loopback.ts";
import { outboundOf } from "../../platform/outbound.ts";
import { countDocumentFetch } from "../guards/address.ts";
import { grantService } from "./oauth-metadata.ts";

export type OpenedRequest = { ok: true; client: AgentClient; request: AuthorizationRequest } | RequestProblem;

/**
 * Checks an authorization request and its client. The caller has authenticated a user: requests of others must not make
 * the service fetch documents.
 * @param query of the request
 */
export async function openRequest(c: Context<AppEnv>, query: string): Promise<OpenedRequest> {
  const parameters = new URLSearchParams(query);
  const named = requestedClient(parameters);
  if (!named.ok) return named;
  const found = await findClient(c, named.id);
  if (!found.ok) return { ok: false, message: found.message, redirectTo: null };
  const checked = checkRequest(parameters, found.client, grantService(c.get("settings")));
  return checked.ok ? { ok: true, client: found.client, request: checked.request } : checked;
}

async function findClient(c: Context<AppEnv>, id: string): Promise<DocumentOutcome> {
  const { BASE_URL, OUTBOUND_NETWORK, REFRESH_PEPPER } = c.get("settings");
  if (!isDocumentId(id)) {
    const client = registeredClient(id, REFRESH_PEPPER);
    return client ? { ok: true, client } : { ok: false, message: "The client is not registered here." };
  }
  const problem = documentUrlProblem(id, OUTBOUND_NETWORK);
  if (problem !== null) return { ok: false, message: `The client_id ${problem}.` };
  const known = keptClient(id, Date.now());
  if (known !== null) return { ok: true, client: known };
  const outbound = outboundOf(c.env, isLoopback(new URL(BASE_URL)));
  if (outbound === null) return { ok: false, message: "This service has no network for metadata documents." };
  await countDocumentFetch(c);
  return fetchClient(outbound, id, Date.now());
}
