import { z } from "zod";
import type { GrantService } from "../../grants/authorization-request.ts";
import type { Resource } from "../../http/resource.ts";
import { AGENT_SCOPES } from "../../keys/scopes.ts";
import type { Settings } from "../../settings.ts";
import { publicLimit } from "../guards/address.ts";
import { oauthJson } from "./oauth-answers.ts";

/** Documents by which a client finds out how to sign in (RFC 9728, RFC 8414). */

const RESOURCE_PATH = "/.well-known/oauth-protected-resource/mcp";
/** Seconds for which a client may keep a document. */
const CACHED = { "Cache-Control": "public, max-age=300" } as const;

const url = z.string();
const texts = z.array(z.string());

/** Returns the authorization server of a deployment, and the resource that its tokens are for. */
export function grantService({ BASE_URL }: Settings): GrantService {
  return { issuer: BASE_URL, resource: `${BASE_URL}/mcp` };
}

/** Returns the address of the resource's metadata, for challenges. */
export function resourceMetadataUrl({ BASE_URL }: Settings): string {
  return `${BASE_URL}${RESOURCE_PATH}`;
}

export function addOAuthMetadata(resource: Resource): void {
  const common = {
    method: "GET",
    tag: "Agents",
    security: "none",
    status: 200,
    errors: [],
    isForeign: true,
  } as const;
  resource.route(
    {
      ...common,
      path: RESOURCE_PATH,
      operation: "oauth.resource",
      summary: "Metadata of the protected resource (RFC 9728)",
      documentedResponse: {
        "application/json": {
          schema: z.object({
            resource: url,
            authorization_servers: texts,
            scopes_supported: texts,
            bearer_methods_supported: texts,
            resource_name: z.string(),
            resource_documentation: url,
          }),
          example: { resource: "https://logs.example.com/mcp", authorization_servers: ["https://logs.example.com"] },
        },
      },
    },
    [publicLimit],
    (c) => {
      const { issuer, resource: id } = grantService(c.get("settings"));
      const metadata = {
        resource: id,
        authorization_servers: [issuer],
        scopes_supported: AGENT_SCOPES,
        bearer_methods_supported: ["header"],
        resource_name: "Taffrail",
        resource_documentation: `${issuer}/docs/mcp.md`,
      };
      return oauthJson(metadata, 200, CACHED);
    },
  );
  resource.route(
    {
      ...common,
      path: "/.well-known/oauth-authorization-server",
      operation: "oauth.server",
      summary: "Metadata of the authorization server (RFC 8414)",
      documentedResponse: {
        "application/json": {
          schema: z.looseObject({ issuer: url, authorization_endpoint: url, token_endpoint: url }),
          example: {
            issuer: "https://logs.example.com",
            authorization_endpoint: "https://logs.example.com/oauth/authorize",
            token_endpoint: "https://logs.example.com/oauth/token",
          },
        },
      },
    },
    [publicLimit],
    (c) => {
      const { issuer } = grantService(c.get("settings"));
      const metadata = {
        issuer,
        authorization_endpoint: `${issuer}/oauth/authorize`,
        token_endpoint: `${issuer}/oauth/token`,
        registration_endpoint: `${issuer}/oauth/register`,
        revocation_endpoint: `${issuer}/oauth/revoke`,
        scopes_supported: AGENT_SCOPES,
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        token_endpoint_auth_methods_supported: ["none"],
        revocation_endpoint_auth_methods_supported: ["none"],
        code_challenge_methods_supported: ["S256"],
        authorization_response_iss_parameter_supported: true,
        client_id_metadata_document_supported: true,
        service_documentation: `${issuer}/docs/agents-oauth.md`,
      };
      return oauthJson(metadata, 200, CACHED);
    },
  );
}
