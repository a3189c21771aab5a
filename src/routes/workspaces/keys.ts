import type { Context } from "hono";
import { z } from "zod";
import type { Mapping } from "../../doors/shared/record-reader.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { refuse, refuseFields } from "../../http/errors.ts";
import { requiredNameSchema } from "../../http/fields.ts";
import { pageOf, pageQuery, refuseCursor } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import type { CreatedKey, KeyChange } from "../../keys/actions.ts";
import { SCOPES } from "../../keys/scopes.ts";
import { DEDUPE, DEFAULT_SETTINGS, mappingSchema, sentMappingSchema, shownSettings } from "../../keys/settings.ts";
import type { KeyInfo } from "../../keys/store.ts";
import { timeSchema } from "../../logs/ingest/timestamp.ts";
import { callUser } from "../../rpc/call.ts";
import { manage, managed, workspaceGuard } from "../guards/member.ts";
import { refuseSession } from "../guards/user.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

/** Longest lifetime of a key that expires. */
const EXPIRY_MAX_MS = 365 * 24 * 60 * 60 * 1000;
/** Seconds for which an old key stays valid beside its successor: at most 30 days, one day by default. */
const OVERLAP_SECONDS = { max: 2_592_000, default: 86_400 } as const;

const expirySchema = timeSchema.describe("ISO 8601 or epoch milliseconds, in the future, at most 365 days ahead.");

const createBody = z.strictObject({
  name: requiredNameSchema,
  scopes: z.array(z.enum(SCOPES)).min(1).max(SCOPES.length),
  expiresAt: expirySchema.nullable().optional(),
});

const dedupeSchema = z
  .enum(DEDUPE)
  .describe(
    "Whether requests in the protocols of other clients are stored once when they are repeated: `auto` if their entries have ids or times that are not all whole seconds, `always`, or `never`. `record`: like `auto`, and each record with a time is stored once, also if another request repeats it.",
  );

const changeBody = z
  .strictObject({
    name: requiredNameSchema.optional(),
    mapping: sentMappingSchema.optional(),
    dedupe: dedupeSchema.optional(),
    vercelSecret: z
      .string()
      .min(1)
      .max(200)
      .nullable()
      .optional()
      .describe(
        "Signature secret of a Vercel drain; bodies without its signature are refused then. `null` removes it.",
      ),
  })
  .refine((change) => Object.keys(change).length > 0, "Send at least one member.")
  .meta({ minProperties: 1 });

const rotateBody = z.strictObject({
  overlapSeconds: z.int().min(0).max(OVERLAP_SECONDS.max).default(OVERLAP_SECONDS.default),
});

export const keySchema = z.object({
  id: z.string(),
  name: z.string(),
  scopes: z.array(z.enum(SCOPES)),
  prefix: z.string().describe("The first 18 characters of the key."),
  projectId: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  revokedAt: z.iso.datetime().nullable(),
  lastUsedAt: z.iso.datetime().nullable().describe("To the minute."),
  mapping: mappingSchema,
  dedupe: dedupeSchema,
  hasVercelSecret: z.boolean(),
});

const madeKeySchema = keySchema.extend({
  secret: z.string().describe("The key. It is shown only in this response."),
});

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

export function keyData(key: KeyInfo, projectId: string): z.output<typeof keySchema> {
  const { id, name, scopes, prefix, settings = shownSettings(DEFAULT_SETTINGS) } = key;
  return {
    id,
    name,
    scopes,
    prefix,
    projectId,
    createdAt: new Date(key.createdAt).toISOString(),
    expiresAt: isoOrNull(key.expiresAt),
    revokedAt: isoOrNull(key.revokedAt),
    lastUsedAt: isoOrNull(key.lastUsedAt),
    mapping: mappingSchema.parse(settings.mapping),
    dedupe: settings.dedupe,
    hasVercelSecret: settings.hasVercelSecret,
  };
}

/** Returns a mapping without members that are `undefined`. */
function definedNames({ timestamp, ...mapping }: z.output<typeof sentMappingSchema>): Mapping {
  const names = { ...mapping, time: mapping.time ?? timestamp };
  return Object.fromEntries(Object.entries(names).filter(([, names]) => names !== undefined));
}

/**
 * Returns a new key if its session is still valid. A session that ended while the key was created may have ended in a
 * purge, which may have missed this key. In that case revokes the key and never shows its secret.
 */
async function handOut(c: Context<AppEnv>, made: CreatedKey, projectId: string): Promise<Response> {
  const { userId, sessionId } = c.get("user");
  const { alive } = await callUser(c.env, userId, "replay-safe", (stub) => stub.authenticate(sessionId, 0));
  if (alive) return madeKeyAnswer(c, made, projectId);
  await managed(c, "revokeKey", projectId, made.key.id);
  return refuseSession(c);
}

/** The only response with a secret, so no cache may keep it. */
function madeKeyAnswer(c: Context<AppEnv>, made: CreatedKey, projectId: string): Response {
  c.get("log").keyId = made.key.id;
  const answer = success({ ...keyData(made.key, projectId), secret: made.secret }, c.get("requestId"), 201);
  answer.headers.set("Cache-Control", "no-store");
  return answer;
}

function param(c: Context<AppEnv>, name: "projectId" | "keyId"): string {
  return c.req.param(name) ?? "";
}

function expiryMs(ms: number | null | undefined, now: number): number | null {
  if (ms === null || ms === undefined) return null;
  if (ms > now && ms <= now + EXPIRY_MAX_MS) return ms;
  const message = "must be in the future and at most 365 days ahead.";
  return refuseFields([{ path: "expiresAt", code: "out_of_range", message }]);
}

export const keys = resource();

keys.route(
  {
    method: "POST",
    path: "/projects/:projectId/keys",
    operation: "key.create",
    tag: "API keys",
    summary: "Create an API key",
    description: "The secret is only returned in this response.",
    security: "accessToken",
    body: createBody,
    example: { name: "backend", scopes: ["logs:write", "logs:read"] },
    status: 201,
    response: madeKeySchema,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "key.create", from: "header" })],
  async (c, { body }) => {
    const projectId = param(c, "projectId");
    const request = { name: body.name, scopes: body.scopes, expiresAt: expiryMs(body.expiresAt, Date.now()) };
    const made = await manage(c, "createKey", projectId, request);
    return handOut(c, made, projectId);
  },
);

keys.route(
  {
    method: "GET",
    path: "/projects/:projectId/keys",
    operation: "key.list",
    tag: "API keys",
    summary: "List API keys",
    security: "accessToken",
    query: pageQuery,
    status: 200,
    response: pageOf(keySchema),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "key.list", from: "header" })],
  async (c, { query: { cursor, limit } }) => {
    const projectId = param(c, "projectId");
    const page = await manage(c, "listKeys", projectId, cursor ?? null, limit);
    if (page === null) return refuseCursor();
    const items = page.items.map((key) => keyData(key, projectId));
    return success({ items, nextCursor: page.nextCursor }, c.get("requestId"));
  },
);

keys.route(
  {
    method: "PATCH",
    path: "/projects/:projectId/keys/:keyId",
    operation: "key.update",
    tag: "API keys",
    summary: "Change an API key",
    description:
      "Changes the name, and how entries in the protocols of other clients are read: `mapping` replaces the whole mapping. The change holds from the next request on. Scopes and expiry of a key never change.",
    security: "accessToken",
    body: changeBody,
    example: { mapping: { message: ["log"], time: ["when"] }, dedupe: "always" },
    status: 200,
    response: keySchema,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "key.update", from: "header" })],
  async (c, { body }) => {
    const projectId = param(c, "projectId");
    const keyId = param(c, "keyId");
    // Absent members must stay absent.
    const change: KeyChange = { ...(body.name === undefined ? {} : { name: body.name }) };
    if (body.mapping !== undefined) change.mapping = definedNames(body.mapping);
    if (body.dedupe !== undefined) change.dedupe = body.dedupe;
    if (body.vercelSecret !== undefined) change.vercelSecret = body.vercelSecret;
    const key = await manage(c, "changeKey", projectId, keyId, change);
    if (key === null) return refuse("NOT_FOUND", "API key not found.");
    c.get("log").keyId = keyId;
    return success(keyData(key, projectId), c.get("requestId"));
  },
);

keys.route(
  {
    method: "POST",
    path: "/projects/:projectId/keys/:keyId/rotate",
    operation: "key.rotate",
    tag: "API keys",
    summary: "Replace an API key",
    description:
      "Creates a successor with the same name, scopes, expiry and settings. The old key stays valid for `overlapSeconds`.",
    security: "accessToken",
    body: rotateBody,
    example: { overlapSeconds: 3600 },
    status: 201,
    response: madeKeySchema,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "key.rotate", from: "header" })],
  async (c, { body }) => {
    const projectId = param(c, "projectId");
    const made = await manage(c, "rotateKey", projectId, param(c, "keyId"), body.overlapSeconds);
    if (made === null) return refuse("NOT_FOUND", "API key not found, revoked or expired.");
    return handOut(c, made, projectId);
  },
);

keys.route(
  {
    method: "DELETE",
    path: "/projects/:projectId/keys/:keyId",
    operation: "key.revoke",
    tag: "API keys",
    summary: "Revoke an API key",
    description: "The key is refused from the next request on, everywhere.",
    security: "accessToken",
    status: 200,
    response: z.object({ revoked: z.literal(true) }),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "key.revoke", from: "header" })],
  async (c) => {
    const keyId = param(c, "keyId");
    const revoked = await manage(c, "revokeKey", param(c, "projectId"), keyId);
    if (!revoked) return refuse("NOT_FOUND", "API key not found.");
    c.get("log").keyId = keyId;
    return success({ revoked: true }, c.get("requestId"));
  },
);
