import { ERROR_STATUS, type ErrorCode } from "../../http/errors.ts";
import { JSON_BODY_MAX_BYTES, type RouteSpec } from "../../http/resource.ts";
import { CATEGORY_TYPES, INGEST_LIMITS, LEVELS, RETENTION_DAYS } from "../../logs/entry.ts";
import { counted, sized } from "../../platform/bytes.ts";

export type Json = Record<string, unknown>;

/** Errors that any route may return, beyond those of its spec. */
export const EVERYWHERE: readonly ErrorCode[] = ["INTERNAL_ERROR"];
/** Errors of a kind of credential. */
export const BY_SECURITY: Record<RouteSpec["security"], readonly ErrorCode[]> = {
  none: [],
  accessToken: ["UNAUTHORIZED", "INVALID_ACCESS_TOKEN", "ACCESS_TOKEN_EXPIRED", "SESSION_REVOKED"],
  apiKey: ["UNAUTHORIZED", "INVALID_API_KEY", "API_KEY_EXPIRED", "API_KEY_REVOKED"],
  either: [
    "UNAUTHORIZED",
    "INVALID_ACCESS_TOKEN",
    "ACCESS_TOKEN_EXPIRED",
    "SESSION_REVOKED",
    "INVALID_API_KEY",
    "API_KEY_EXPIRED",
    "API_KEY_REVOKED",
  ],
  agent: [
    "UNAUTHORIZED",
    "INVALID_ACCESS_TOKEN",
    "ACCESS_TOKEN_EXPIRED",
    "INVALID_API_KEY",
    "API_KEY_EXPIRED",
    "API_KEY_REVOKED",
  ],
  operatorToken: ["UNAUTHORIZED", "NOT_FOUND"],
};
/** Errors of a validated JSON body. */
export const BY_BODY: readonly ErrorCode[] = [
  "VALIDATION_ERROR",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "REQUEST_TIMEOUT",
];

/** Errors of a limit: every operation counts, for its caller or for its client IP. */
export const BY_LIMIT: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];
export const SECURITY: Record<RouteSpec["security"], readonly Json[]> = {
  none: [],
  accessToken: [{ accessToken: [] }],
  apiKey: [{ apiKey: [] }],
  either: [{ accessToken: [] }, { apiKey: [] }],
  agent: [{ agentToken: ["logs:read"] }, { apiKey: [] }],
  operatorToken: [{ operatorToken: [] }],
};

export const DESCRIPTION = `Send logs, and query them with the next request. Programs read this reference as [openapi.json](/openapi.json).

Every JSON response has the members \`success\`, \`data\`, \`error\` and \`meta\`. \`error.code\` is from a closed list; each route lists the codes that it can return.

## Authentication

Credentials are sent as \`Authorization: Bearer …\`:

- **API key**, for programs: \`Authorization: Bearer sk_…\`. It belongs to one project, and sends or reads entries by its scopes, such as \`logs:write\` and \`logs:read\`. Created in the console under *Settings*, *API keys*, and shown once.
- **Access token**, for users: from a sign-in such as \`POST /auth/login\`, valid for 15 minutes, and renewed by \`POST /auth/refresh\`. Calls of a workspace name it in \`X-Workspace-Id\`.

Each operation says which of them it accepts. *Authorize* below the next parts takes one for *Try it*.

## Limits of ingest

| What | Limit |
|---|---|
| Body, after decompression | ${sized(INGEST_LIMITS.bodyBytes)} of JSON, ${sized(INGEST_LIMITS.linesBodyBytes)} of NDJSON |
| Entries in one request | ${counted(INGEST_LIMITS.entries)} as JSON, ${counted(INGEST_LIMITS.linesEntries)} as NDJSON |
| One entry, as sent | ${sized(INGEST_LIMITS.entryBytes)} |
| Values in one entry: objects, arrays, scalars | ${counted(INGEST_LIMITS.entryValues)} |
| Depth of \`data\` | ${INGEST_LIMITS.dataDepth} |
| \`category\` and \`type\` | 1 to ${INGEST_LIMITS.nameLength} characters |
| \`timestamp\` ahead of the receipt | at most ${INGEST_LIMITS.futureMs / 3_600_000} hours |
| \`timestamp\` in the past | at most the workspace's retention, ${RETENTION_DAYS.min} to ${RETENTION_DAYS.max} days, ${RETENTION_DAYS.default} by default |
| Rejections listed in a receipt | ${INGEST_LIMITS.rejectedListed}; \`rejectedCount\` counts all |
| \`Idempotency-Key\` | 1 to ${INGEST_LIMITS.idempotencyKeyLength} printable ASCII characters, remembered for ${INGEST_LIMITS.idempotencyMs / 3_600_000} hours |
| Body on every other route | ${sized(JSON_BODY_MAX_BYTES)} |

## Levels and categories

Levels by severity: ${LEVELS.map((level) => `\`${level}\``).join(", ")}.

${Object.entries(CATEGORY_TYPES)
  .map(([category, types]) => `- \`${category}\`: ${types.map((type) => `\`${type}\``).join(", ")}`)
  .join("\n")}
- \`custom\`, or a category of your own: any type
`;

/** What the operations of each tag are for. */
export const TAGS: Readonly<Record<string, string>> = {
  Accounts: "Sign-in, sessions, passwords and the user's own data.",
  Workspaces: "Workspaces, their usage, and changes to them.",
  Members: "Members, roles and invitations.",
  Notifications: "Destinations of alerts, and deliveries to them.",
  Projects: "Projects, and entries that are missing.",
  "API keys": "Keys of a project, with scopes and an end.",
  Logs: "Send, query, export and follow entries.",
  Search: "Searches in the query language.",
  Doors: "Ingest in the protocols of other clients: OpenTelemetry, Loki, Elasticsearch, Splunk, Datadog and more.",
  Agents: "MCP for AI agents, and OAuth for their grants.",
  Loki: "Loki's read API, for Grafana.",
  Sandbox: "A project for trying the service without an account.",
  Limits: "Rate limits of workspaces, and refused requests.",
  "Views and boards": "Saved queries, and boards of panels.",
  Alerts: "Rules that watch entries, with their decisions.",
  Operations: "The state of the service, and checks of its storage for operators.",
};

export function successSchema(data: Json): Json {
  return {
    type: "object",
    required: ["success", "data", "error", "meta"],
    properties: {
      success: { const: true },
      data,
      error: { type: "null" },
      meta: { $ref: "#/components/schemas/Meta" },
    },
  };
}

export function failureSchema(codes: readonly ErrorCode[]): Json {
  return {
    allOf: [
      { $ref: "#/components/schemas/Failure" },
      { type: "object", properties: { error: { type: "object", properties: { code: { enum: codes } } } } },
    ],
  };
}

function header(description: string): Json {
  return { description, schema: { type: "integer" } };
}

export const REQUEST_ID_HEADER = { "X-Request-Id": { $ref: "#/components/headers/requestId" } };
export const LIMIT_HEADERS = {
  "X-RateLimit-Limit": { $ref: "#/components/headers/limit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/remaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/reset" },
};
export const LOCATION_HEADER = {
  Location: { description: "Continues the list.", schema: { type: "string", format: "uri" } },
};
export const RETRY_AFTER_HEADER = { "Retry-After": { $ref: "#/components/headers/retryAfter" } };

export const COMPONENTS: Json = {
  securitySchemes: {
    accessToken: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The access token of a sign-in, valid for 15 minutes. `POST /auth/refresh` returns a new pair.",
    },
    apiKey: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "sk_...",
      description: "An API key of a project, with the scope that the route requires. Shown once, when it is created.",
    },
    agentToken: {
      type: "oauth2",
      description: "The access token of a grant, `oa_...`. Loki's read API accepts it, too. `docs/agents-oauth.md`.",
      flows: {
        authorizationCode: {
          authorizationUrl: "/oauth/authorize",
          tokenUrl: "/oauth/token",
          refreshUrl: "/oauth/token",
          scopes: { "logs:read": "Read logs", "views:write": "Save views", "alerts:write": "Create alerts" },
        },
      },
    },
    operatorToken: {
      type: "http",
      scheme: "bearer",
      description: "The setting OPERATOR_TOKEN of this deployment. Without one these routes do not exist (404).",
    },
  },
  parameters: {
    requestId: {
      name: "X-Request-Id",
      in: "header",
      required: false,
      description:
        "Returned in the response and in every event of the request if it has at most 128 printable ASCII characters. Otherwise it is replaced.",
      schema: { type: "string" },
    },
  },
  headers: {
    requestId: { description: "The caller's request id, or a new one.", schema: { type: "string" } },
    limit: header("Maximum requests in the current window."),
    remaining: header("Requests left in the window."),
    reset: header("Unix timestamp in seconds when the window resets: when the oldest counted request leaves it."),
    retryAfter: header("Seconds until this request would be admitted, rounded up."),
  },
  schemas: {
    Meta: {
      type: "object",
      required: ["timestamp", "requestId"],
      properties: { timestamp: { type: "string", format: "date-time" }, requestId: { type: "string" } },
    },
    Failure: {
      type: "object",
      required: ["success", "data", "error", "meta"],
      properties: {
        success: { const: false },
        data: { type: "null" },
        error: {
          type: "object",
          required: ["code", "message"],
          properties: {
            code: { enum: Object.keys(ERROR_STATUS) },
            message: { type: "string" },
            details: {
              type: "array",
              description:
                "One per offending field, or per rejected entry of an ingest. Of a 429 one, with the limit, its window and its rule.",
              items: {
                type: "object",
                properties: {
                  path: { type: "string", description: "The member of the request, as `filters.level`." },
                  code: { type: "string" },
                  message: { type: "string" },
                  position: {
                    type: "integer",
                    description: "Of a query: where in its text, as an offset in UTF-16 code units, as in JavaScript.",
                  },
                  expected: {
                    type: "array",
                    items: { type: "string" },
                    description: "Of a query: what is accepted at the position.",
                  },
                  suggestion: {
                    type: "string",
                    description:
                      "Of a query: a text that may be meant, in place of what begins at the position, or of the whole test or pipe. `message` ends with it.",
                  },
                  corrected: {
                    type: "string",
                    description:
                      "Of a query: all of it with the suggestion in its place. Errors that follow are in it, too.",
                  },
                },
              },
            },
          },
        },
        meta: { $ref: "#/components/schemas/Meta" },
      },
    },
  },
};
