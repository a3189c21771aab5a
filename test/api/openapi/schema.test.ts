import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { Agent, request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { asUser, call, createKey, createTenant, type Tenant } from "../../support/api.ts";
import { nextMail, tokenIn } from "../../support/outbox.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { type Operation, operationsOf, type Schema } from "./document.ts";
import { mutantsOf, textsOf } from "./mutations.ts";
import { sampleOf } from "./samples.ts";
import { isUnsayable } from "./unsayable.ts";

/** Requests of a run; `SCHEMA_REQUESTS=all` sends all of them. `SCHEMA_SEED` repeats a run. */
const MOST =
  process.env.SCHEMA_REQUESTS === "all" ? Number.POSITIVE_INFINITY : Number(process.env.SCHEMA_REQUESTS ?? 1000);
const SEED = Number(process.env.SCHEMA_SEED ?? Math.floor(Math.random() * 2 ** 31));
const CONNECTIONS = 8;

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });
const accepts = (schema: Schema, value: unknown): boolean => ajv.validate(schema, value);

interface Case {
  operation: Operation;
  tenant: Tenant;
  query: string;
  headers: Record<string, string>;
  body: { mediaType: string; value: unknown } | null;
  /** Whether the document accepts the request: asked only of those that are sent, because each schema is compiled first. */
  documented: () => boolean;
}

const OPERATOR_TOKEN = "operator-token-operator-token-0001";

let server: TestServer;
let operations: Operation[];
let agent: Agent;

beforeAll(async () => {
  server = await startServer({ env: { PROVIDER_A_CLIENT_ID: "client", OPERATOR_TOKEN } });
  operations = await operationsOf(server.url);
  agent = new Agent({ connections: CONNECTIONS });
}, 120_000);
afterAll(async () => {
  await agent.close();
  await server.stop();
});

/** A tenant for each operation, so that changes to its account, limits or keys do not affect other operations. */
async function tenantFor({ id }: Operation): Promise<Tenant> {
  const tenant = await createTenant(server.url);
  const limits = { default: { limit: 1_000_000, windowSeconds: 60 } };
  const path = `/workspaces/${tenant.account.workspaceId}/rate-limits`;
  expect((await call(server.url, path, { ...asUser(tenant.account), method: "PUT", body: limits })).status).toBe(200);
  if (VERIFIED.test(id)) {
    const mail = await nextMail(server.url, tenant.account.email, "verify-email");
    expect((await call(server.url, "/auth/verify-email", { body: { token: tokenIn(mail) } })).status).toBe(200);
  }
  // With a key that lacks the scope, an operation would be refused before its body is read.
  if (/^alert\./.test(id)) {
    tenant.key = await createKey(server.url, tenant.account, tenant.projectId, ["logs:read", "alerts:write"]);
  }
  return tenant;
}

/** Operations that require a verified address before they read their body. */
const VERIFIED = /^(workspace\.create|invitation\.(create|accept)|auth\.link\.provider_a\.start)$/;

/**
 * Completes samples that a schema alone does not give: members that depend on others, or that name existing resources.
 */
function fitted(operation: Operation, sample: unknown, tenant: Tenant): unknown {
  if (typeof sample !== "object" || sample === null) return sample;
  const { cursor: _cursor, ...pagination } = { cursor: undefined, ...(Reflect.get(sample, "pagination") ?? {}) };
  switch (operation.id) {
    case "workspace.query": {
      const { asOf: _asOf, ...rest } = { asOf: undefined, ...sample };
      return { ...rest, pagination, projectId: tenant.projectId };
    }
    case "workspace.stats":
      return { ...sample, projectId: tenant.projectId };
    case "limits.set":
    case "rate-limits.put":
      return {
        default: { limit: 1000, windowSeconds: 60 },
        rules: [{ method: "POST", path: "/logger/:id/log", limit: 5, windowSeconds: 60 }],
      };
    case "key.create":
      return { ...sample, expiresAt: new Date(Date.now() + 86_400_000).toISOString() };
    default:
      return sample;
  }
}

/** Removes the snapshot of a sample, which does not exist: its refusal would hide others. */
function withoutSample(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Reflect.get(value, "asOf") !== "sample") return value;
  const { asOf: _asOf, ...rest } = { asOf: undefined, ...value };
  return rest;
}

function casesOf(operation: Operation, tenant: Tenant): Case[] {
  const required = operation.parameters.filter((each) => each.in === "query" && each.required);
  const params = Object.fromEntries(required.map(({ name, schema }) => [name, String(sampleOf(schema, accepts))]));
  const base = { operation, tenant, query: queryOf(params), headers: {}, body: sampleBody(operation, tenant) };
  const cases: Case[] = [{ ...base, documented: () => true }];
  for (const [mediaType, schema] of Object.entries(operation.body?.schemas ?? {})) {
    if (mediaType !== "application/json") continue;
    const sample = fitted(operation, sampleOf(schema, accepts), tenant);
    for (const mutant of mutantsOf(schema, accepts, sample)) {
      const value: unknown = withoutSample(JSON.parse(JSON.stringify(mutant)));
      cases.push({ ...base, body: { mediaType, value }, documented: () => operation.acceptsBody(mediaType, value) });
    }
  }
  if (operation.body) cases.push({ ...base, body: null, documented: () => operation.body?.required !== true });
  for (const parameter of operation.parameters) {
    if (parameter.in === "path" || /^(X-Workspace-Id|Upgrade)$/.test(parameter.name)) continue;
    // Every operation has this parameter, and one place reads it.
    if (parameter.name === "X-Request-Id" && operation.id !== "service.health") continue;
    for (const text of textsOf(parameter.schema, accepts)) {
      if (parameter.in === "query") {
        const wellFormed = text.toWellFormed();
        const query = queryOf({ ...params, [parameter.name]: wellFormed });
        cases.push({ ...base, query, documented: () => operation.acceptsParameter(parameter, [wellFormed]) });
      } else if (/^[\x20-\x7e\x80-\xff]*$/.test(text) && text === text.trim()) {
        const documented = () => operation.acceptsParameter(parameter, [text]);
        cases.push({ ...base, headers: { [parameter.name]: text }, documented });
      }
    }
  }
  return cases;
}

function queryOf(params: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams(params).toString();
  return text === "" ? "" : `?${text}`;
}

function sampleBody(operation: Operation, tenant: Tenant): Case["body"] {
  const [[mediaType, schema] = []] = Object.entries(operation.body?.schemas ?? {});
  if (mediaType === undefined || schema === undefined) return null;
  if (mediaType !== "application/json") return { mediaType, value: '{"message":"m"}\n' };
  return { mediaType, value: fitted(operation, sampleOf(schema, accepts), tenant) };
}

interface Reason {
  path: string;
  code: string;
  message: string;
}

let addresses = 0;

/**
 * @returns why the server refuses the request's shape, or `null` if it accepts the shape
 * @throws Error for a response that is not documented
 */
async function refusal({ operation, tenant, query, headers, body }: Case): Promise<Reason[] | null> {
  const { account, projectId, key } = tenant;
  const ids: Record<string, string> = { workspaceId: account.workspaceId, projectId, keyId: key.id, logId: "log_x" };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? "x");
  const credential = {
    apiKey: key.secret,
    accessToken: account.accessToken,
    operatorToken: OPERATOR_TOKEN,
    none: null,
  }[operation.credential];
  addresses++;
  const answer = await request(`${server.url}${path}${query}`, {
    dispatcher: agent,
    method: operation.method as "GET",
    headers: {
      "CF-Connecting-IP": `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`,
      ...(credential ? { Authorization: `Bearer ${credential}` } : {}),
      ...(operation.credential === "accessToken" ? { "X-Workspace-Id": account.workspaceId } : {}),
      ...(operation.path.startsWith("/playground") ? { Origin: server.url } : {}),
      ...(body ? { "Content-Type": body.mediaType } : {}),
      ...headers,
    },
    ...(body ? { body: body.mediaType === "application/json" ? JSON.stringify(body.value) : String(body.value) } : {}),
  });
  const text = await answer.body.text();
  const status = answer.statusCode;
  const parsed = String(answer.headers["content-type"]).startsWith("application/json") ? JSON.parse(text) : null;
  const fault = operation.answerFault(status, parsed);
  if (fault !== null) throw new Error(`${fault}: ${text.slice(0, 300)}`);
  if (status >= 500 && status !== 502) throw new Error(`status ${status}: ${text.slice(0, 300)}`);
  if (parsed === null) return null;
  const { error, data } = parsed;
  if (data?.rejected?.length > 0)
    return data.rejected.map(({ code, message }: Reason) => ({ path: "entry", code, message }));
  if (error === null) return null;
  if (error.code === "VALIDATION_ERROR" || status === 413 || status === 415) {
    const details: Reason[] = error.details ?? [{ path: "", code: error.code, message: error.message }];
    // A tail reads its parameters before it checks for a WebSocket upgrade.
    return details.length === 1 && details[0]?.path === "Upgrade"
      ? null
      : details.map((each) => ({ ...each, path: each.path ?? "entry" }));
  }
  if (
    /^(UNAUTHORIZED|INVALID_ACCESS_TOKEN|INVALID_API_KEY|API_KEY_REVOKED|SESSION_REVOKED|INSUFFICIENT_SCOPE|FORBIDDEN)$/.test(
      error.code,
    )
  ) {
    throw new Error(`refused for who asks: ${text.slice(0, 300)}`);
  }
  if (
    status === 429 &&
    !operation.path.startsWith("/auth/") &&
    !/sandbox|playground|members|invitations/.test(operation.path)
  )
    throw new Error(`limited: ${text.slice(0, 200)}`);
  return null;
}

test(`D23: the document and the server agree on requests (seed ${SEED})`, async () => {
  const asked = operations.filter(isAsked);
  const samples = new Set<Case>();
  const all: Case[] = [];
  for (let at = 0; at < asked.length; at += CONNECTIONS) {
    const some = asked.slice(at, at + CONNECTIONS);
    const cases = await Promise.all(some.map(async (operation) => casesOf(operation, await tenantFor(operation))));
    for (const [sample] of cases) if (sample) samples.add(sample);
    all.push(...cases.flat());
  }
  const order = fc.sample(fc.double({ noNaN: true, min: 0, max: 1 }), { seed: SEED, numRuns: all.length });
  const cases = all
    // The sample of each operation is part of every run: chance may leave out the only one that has a full answer.
    .map((each, index) => ({ each, at: samples.has(each) ? -1 : (order[index] ?? 0) }))
    .sort((a, b) => a.at - b.at)
    .slice(0, MOST)
    .map(({ each }) => each);
  const differences = new Map<string, { count: number; shown: string }>();
  const note = (what: string, shown: string) => {
    const known = differences.get(what);
    if (known) known.count++;
    else differences.set(what, { count: 1, shown });
  };
  let next = 0;
  let accepted = 0;
  let refused = 0;
  const worker = async () => {
    for (let item = cases[next++]; item; item = cases[next++]) {
      const { operation, body, query, headers } = item;
      const documented = item.documented();
      const shown = JSON.stringify({ query, headers, body: body?.value }).slice(0, 400);
      try {
        const reasons = await refusal(item);
        if (reasons === null) accepted++;
        else refused++;
        if (documented && reasons !== null && !reasons.every((reason) => isUnsayable(operation.id, reason))) {
          const [reason] = reasons.filter((each) => !isUnsayable(operation.id, each));
          note(
            `${operation.id}: documented and refused: ${reason?.path} ${reason?.code} ${reason?.message}`.slice(0, 200),
            shown,
          );
        }
        if (!documented && reasons === null) note(`${operation.id}: taken and not documented: ${place(item)}`, shown);
      } catch (error) {
        note(`${operation.id}: ${error instanceof Error ? error.message.slice(0, 200) : error}`, shown);
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  console.log(
    `seed ${SEED}: ${cases.length} of ${all.length} requests over ${operations.length} operations; ${accepted} taken, ${refused} refused`,
  );
  const report = [...differences].map(([what, { count, shown }]) => `${count}x ${what}\n    ${shown}`);
  expect(report.slice(0, 20)).toEqual([]);
  expect(accepted).toBeGreaterThan(cases.length / 10);
  expect(refused).toBeGreaterThan(cases.length / 10);
}, 600_000);

/** Whether an operation is tested: it has a body or parameters, or only reads, so that its responses are checked. */
function isAsked({ id, method, body, parameters }: Operation): boolean {
  // A door, the MCP server, OAuth and Loki's API take what their protocols say, and answer in their shape.
  if (/^(door|agent|oauth|loki)\./.test(id)) return false;
  const isGiven = parameters.some(
    ({ in: place, name }) => place === "query" || (place === "header" && !/^X-/.test(name)),
  );
  return method === "GET" || body !== null || isGiven;
}

/** Where the document rejects a request. */
function place({ operation, body, query, headers }: Case): string {
  if (query !== "") return query.slice(0, 60);
  if (Object.keys(headers).length > 0) return JSON.stringify(headers);
  const schema = operation.body?.schemas[body?.mediaType ?? ""];
  if (!schema) return "no body";
  ajv.validate(schema, body?.value);
  const [error] = ajv.errors ?? [];
  return `${error?.instancePath} ${error?.message}`;
}
