import { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../../http/errors.ts";
import { isOptional, JSON_BODY_MAX_BYTES, type Resource, type RouteSpec } from "../../http/resource.ts";
import { CATEGORY_TYPES, INGEST_LIMITS, LEVELS, RETENTION_DAYS } from "../../logs/entry.ts";

type Json = Record<string, unknown>;

/** Errors any route may answer with, beyond those its spec lists. */
const EVERYWHERE: readonly ErrorCode[] = ["INTERNAL_ERROR"];
/** Errors that come with a kind of credential. */
const BY_SECURITY: Record<RouteSpec["security"], readonly ErrorCode[]> = {
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
  operatorToken: ["UNAUTHORIZED", "NOT_FOUND"],
};
/** Errors that come with a validated JSON body. */
const BY_BODY: readonly ErrorCode[] = [
  "VALIDATION_ERROR",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "REQUEST_TIMEOUT",
];

/** Errors that come with a limit: every operation counts, for its caller or for its client address. */
const BY_LIMIT: readonly ErrorCode[] = ["RATE_LIMITED", "SERVICE_UNAVAILABLE"];
const WORKSPACE_HEADER = "X-Workspace-Id";
/** Paths that name no workspace and no key that would carry one: with an access token, the header must. */
const NEEDS_WORKSPACE = /^\/projects(\/|$)/;

const SECURITY: Record<RouteSpec["security"], readonly Json[]> = {
  none: [],
  accessToken: [{ accessToken: [] }],
  apiKey: [{ apiKey: [] }],
  either: [{ accessToken: [] }, { apiKey: [] }],
  operatorToken: [{ operatorToken: [] }],
};

const DESCRIPTION = `Send logs, and find them in the very next request.

Every JSON answer has the members \`success\`, \`data\`, \`error\` and \`meta\`. \`error.code\` is from a closed list; each route names those it can answer with.

## Limits of ingest

| What | Limit |
|---|---|
| Body, after decompression | ${INGEST_LIMITS.bodyBytes} bytes |
| Entries in one request | ${INGEST_LIMITS.entries} |
| One entry, as sent | ${INGEST_LIMITS.entryBytes} bytes |
| Values in one entry: objects, arrays, scalars | ${INGEST_LIMITS.entryValues} |
| Depth of \`data\` | ${INGEST_LIMITS.dataDepth} |
| \`category\` and \`type\` | 1 to ${INGEST_LIMITS.nameLength} characters |
| \`timestamp\` ahead of the receipt | at most ${INGEST_LIMITS.futureMs / 3_600_000} hours |
| \`timestamp\` in the past | at most the workspace's retention, ${RETENTION_DAYS.min} to ${RETENTION_DAYS.max} days, ${RETENTION_DAYS.default} by default |
| Rejections listed in a receipt | ${INGEST_LIMITS.rejectedListed}; \`rejectedCount\` counts all |
| \`Idempotency-Key\` | 1 to ${INGEST_LIMITS.idempotencyKeyLength} printable ASCII characters, remembered for ${INGEST_LIMITS.idempotencyMs / 3_600_000} hours |
| Body on every other route | ${JSON_BODY_MAX_BYTES} bytes |

## Levels and categories

Levels by severity: ${LEVELS.map((level) => `\`${level}\``).join(", ")}.

${Object.entries(CATEGORY_TYPES)
  .map(([category, types]) => `- \`${category}\`: ${types.map((type) => `\`${type}\``).join(", ")}`)
  .join("\n")}
- \`custom\`, or a category of your own: any type
`;

/** The OpenAPI 3.1 document of all resources, built from the very schemas that validate. */
export function openApiDocument(resources: readonly Resource[], serverUrl: string, version: string): Json {
  const specs = resources.flatMap((resource) => resource.specs);
  const paths: Record<string, Json> = {};
  for (const spec of specs) {
    const path = spec.path.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [spec.method.toLowerCase()]: operation(spec, operationId(spec, specs)) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Taffrail",
      version,
      description: DESCRIPTION,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: serverUrl }],
    tags: [...new Set(specs.map((spec) => spec.tag))].map((name) => ({ name })),
    paths,
    components: COMPONENTS,
  };
}

/** The operation's name; with its method where one operation is served by several. */
function operationId({ method, operation: name }: RouteSpec, specs: readonly RouteSpec[]): string {
  const isOnly = specs.filter((other) => other.operation === name).length === 1;
  return isOnly ? name : `${name}.${method.toLowerCase()}`;
}

function operation(spec: RouteSpec, id: string): Json {
  const parameters = parametersOf(spec);
  const body = requestBodyOf(spec);
  return {
    operationId: id,
    tags: [spec.tag],
    summary: spec.summary,
    ...(spec.description ? { description: spec.description } : {}),
    security: SECURITY[spec.security],
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: body } : {}),
    responses: responsesOf(spec),
  };
}

function parametersOf(spec: RouteSpec): Json[] {
  const inPath = [...spec.path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const needsWorkspace = NEEDS_WORKSPACE.test(spec.path) && spec.security === "accessToken";
  const named: Record<string, string | z.ZodType> = {
    ...(needsWorkspace ? { [WORKSPACE_HEADER]: "The workspace to act in." } : {}),
    ...spec.headers,
  };
  const headers = Object.entries(named).map(([name, what]) => ({
    name,
    in: "header",
    required: name === WORKSPACE_HEADER && needsWorkspace,
    ...(typeof what === "string"
      ? { description: what, schema: { type: "string" } }
      : { description: what.description, schema: jsonSchema(what, "input") }),
  }));
  return [...inPath, ...queryParameters(spec), ...headers, { $ref: "#/components/parameters/requestId" }];
}

function queryParameters({ query, documentedQuery = query }: RouteSpec): Json[] {
  if (!documentedQuery) return [];
  const schema = z.toJSONSchema(documentedQuery, { io: "input", unrepresentable: "any" });
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    // OpenAPI has this beside the schema. zod's type knows members of JSON Schema alone.
    const { allowEmptyValue, ...rest } = Object(property);
    return {
      name,
      in: "query",
      required: required.has(name),
      ...(allowEmptyValue === true ? { allowEmptyValue } : {}),
      schema: rest,
    };
  });
}

function requestBodyOf(spec: RouteSpec): Json | null {
  const bodies = spec.documentedBody ?? (spec.body ? { "application/json": spec.body } : null);
  if (!bodies) return null;
  const content = Object.entries(bodies).map(([type, schema]) => [type, { schema: jsonSchema(schema, "input") }]);
  return { required: !isOptional(spec), content: Object.fromEntries(content) };
}

function responsesOf(spec: RouteSpec): Json {
  const headers = { ...REQUEST_ID_HEADER, ...LIMIT_HEADERS };
  const responses: Record<string, Json> = { [spec.status]: successOf(spec, headers) };
  for (const [status, codes] of errorsByStatus(spec)) {
    responses[status] = {
      description: codes.join(", "),
      headers: { ...headers, ...(status === 429 || status === 503 ? RETRY_AFTER_HEADER : {}) },
      content: { "application/json": { schema: failureSchema(codes) } },
    };
  }
  return responses;
}

function successOf(spec: RouteSpec, headers: Json): Json {
  if (spec.status === 101) return { description: "Switching protocols to WebSocket", headers };
  if (spec.status === 302) return { description: "Redirect", headers: { ...headers, ...LOCATION_HEADER } };
  return {
    description: spec.status === 201 ? "Created" : "Done",
    headers,
    content: { "application/json": { schema: successSchema(jsonSchema(spec.response, "output")) } },
  };
}

function errorsByStatus(spec: RouteSpec): Map<number, ErrorCode[]> {
  const codes = new Set<ErrorCode>([
    ...spec.errors,
    ...BY_SECURITY[spec.security],
    ...(spec.body || spec.documentedBody ? BY_BODY : []),
    ...(spec.query || spec.documentedQuery ? (["VALIDATION_ERROR"] as const) : []),
    ...BY_LIMIT,
    ...EVERYWHERE,
  ]);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

/** Transforms and refinements have no JSON form: what they start from is documented, or anything. */
function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

function successSchema(data: Json): Json {
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

function failureSchema(codes: readonly ErrorCode[]): Json {
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

const REQUEST_ID_HEADER = { "X-Request-Id": { $ref: "#/components/headers/requestId" } };
const LIMIT_HEADERS = {
  "X-RateLimit-Limit": { $ref: "#/components/headers/limit" },
  "X-RateLimit-Remaining": { $ref: "#/components/headers/remaining" },
  "X-RateLimit-Reset": { $ref: "#/components/headers/reset" },
};
const LOCATION_HEADER = { Location: { description: "Where to go on.", schema: { type: "string", format: "uri" } } };
const RETRY_AFTER_HEADER = { "Retry-After": { $ref: "#/components/headers/retryAfter" } };

const COMPONENTS: Json = {
  securitySchemes: {
    accessToken: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "JWT",
      description: "The access token of a sign-in. It lives 15 minutes; `POST /auth/refresh` gives a new pair.",
    },
    apiKey: {
      type: "http",
      scheme: "bearer",
      bearerFormat: "sk_...",
      description: "An API key of a project, with the scope the route needs. Shown once, when it is made.",
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
        "Echoed in the answer and in every log line about the request, if it is at most 128 printable ASCII characters. Another one is replaced.",
      schema: { type: "string" },
    },
  },
  headers: {
    requestId: { description: "The caller's request id, or a new one.", schema: { type: "string" } },
    limit: header("Maximum requests in the current window."),
    remaining: header("Requests left in the window."),
    reset: header("Unix timestamp in seconds when the window resets: when the oldest counted request leaves it."),
    retryAfter: header("Seconds after which this request would be admitted, rounded up."),
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
              description: "One per offending field, or per rejected entry of an ingest.",
              items: { type: "object" },
            },
          },
        },
        meta: { $ref: "#/components/schemas/Meta" },
      },
    },
  },
};
