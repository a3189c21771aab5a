import { z } from "zod";
import { ERROR_STATUS, type ErrorCode } from "../../http/errors.ts";
import { type DocumentedBody, isOptional, type Resource, type RouteSpec } from "../../http/resource.ts";
import { REQUIRED_PARAMETERS } from "../examples.ts";
import {
  BY_BODY,
  BY_LIMIT,
  BY_SECURITY,
  COMPONENTS,
  DESCRIPTION,
  EVERYWHERE,
  failureSchema,
  type Json,
  LIMIT_HEADERS,
  LOCATION_HEADER,
  REQUEST_ID_HEADER,
  RETRY_AFTER_HEADER,
  SECURITY,
  successSchema,
  TAGS,
} from "./openapi-parts.ts";

const WORKSPACE_HEADER = "X-Workspace-Id";
/** Paths that name neither a workspace nor a key, so that with an access token the header must name the workspace. */
const NEEDS_WORKSPACE = /^\/projects(\/|$)/;

/** Builds the OpenAPI 3.1 document of all resources from the schemas that validate requests. */
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
    tags: [...new Set(specs.map((spec) => spec.tag))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: COMPONENTS,
  };
}

/** Returns the operation's name, with its method if several methods serve one operation, and the number of its path. */
function operationId({ method, path, operation: name }: RouteSpec, specs: readonly RouteSpec[]): string {
  const same = specs.filter((other) => other.operation === name);
  const paths = [...new Set(same.map((other) => other.path))];
  const numbered = paths.length > 1 && same.some((other) => other.path !== path && other.method === method);
  const suffix = numbered && paths.indexOf(path) > 0 ? `.${paths.indexOf(path) + 1}` : "";
  return new Set(same.map((other) => other.method)).size === 1
    ? name + suffix
    : `${name}.${method.toLowerCase()}${suffix}`;
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
  const inPath = [...spec.path.matchAll(/:(\w+)/g)].map(([, name = ""]) => requiredText(name, "path"));
  const needsWorkspace = NEEDS_WORKSPACE.test(spec.path) && spec.security === "accessToken";
  const workspace = needsWorkspace ? [requiredText(WORKSPACE_HEADER, "header")] : [];
  const headers = Object.entries(spec.headers ?? {}).map(([name, what]) => ({
    name,
    in: "header",
    required: false,
    ...(typeof what === "string"
      ? { description: what, schema: { type: "string" } }
      : { description: what.description, schema: jsonSchema(what, "input") }),
  }));
  return [...inPath, ...queryParameters(spec), ...workspace, ...headers, { $ref: "#/components/parameters/requestId" }];
}

function requiredText(name: string, place: "path" | "header"): Json {
  return { name, in: place, required: true, ...REQUIRED_PARAMETERS[name], schema: { type: "string" } };
}

function queryParameters({ query, documentedQuery = query }: RouteSpec): Json[] {
  if (!documentedQuery) return [];
  const schema = z.toJSONSchema(documentedQuery, { io: "input", unrepresentable: "any" });
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).map(([name, property]) => {
    // OpenAPI has this beside the schema; zod's type has only members of JSON Schema.
    const { allowEmptyValue, ...rest } = Object(property);
    return {
      name,
      in: "query",
      required: required.has(name),
      ...(required.has(name) ? REQUIRED_PARAMETERS[name] : {}),
      ...(allowEmptyValue === true ? { allowEmptyValue } : {}),
      schema: rest,
    };
  });
}

function requestBodyOf(spec: RouteSpec): Json | null {
  const bodies = bodiesOf(spec);
  if (!bodies) return null;
  return { required: !isOptional(spec), content: contentOf(bodies, "input") };
}

function contentOf(bodies: Readonly<Record<string, DocumentedBody>>, io: "input" | "output"): Json {
  const content = Object.entries(bodies).map(([type, { schema, example }]) => [
    type,
    { schema: jsonSchema(schema, io), example },
  ]);
  return Object.fromEntries(content);
}

function bodiesOf(spec: RouteSpec): Readonly<Record<string, DocumentedBody>> | null {
  if (spec.documentedBody) return spec.documentedBody;
  return spec.body ? { "application/json": { schema: spec.body, example: spec.example } } : null;
}

function responsesOf(spec: RouteSpec): Json {
  const headers = { ...REQUEST_ID_HEADER, ...LIMIT_HEADERS };
  const responses: Record<string, Json> = { [spec.status]: successOf(spec, headers) };
  for (const [status, codes] of errorsByStatus(spec)) {
    responses[status] = {
      description: codes.join(", "),
      headers: { ...headers, ...(status === 429 || status === 503 ? RETRY_AFTER_HEADER : {}) },
      // The errors of other protocols have their shapes.
      ...(spec.isForeign ? {} : { content: { "application/json": { schema: failureSchema(codes) } } }),
    };
  }
  return responses;
}

function successOf(spec: RouteSpec, headers: Json): Json {
  if (spec.status === 101) return { description: "Switching protocols to WebSocket", headers };
  if (spec.status === 302) return { description: "Redirect", headers: { ...headers, ...LOCATION_HEADER } };
  const content = spec.documentedResponse
    ? contentOf(spec.documentedResponse, "output")
    : { "application/json": { schema: successSchema(jsonSchema(spec.response, "output")) } };
  return { description: spec.status === 201 ? "Created" : "Done", headers, content };
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

/** Returns the JSON schema. Transforms and refinements have none: their input is documented, or any value. */
function jsonSchema(schema: z.ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}
