import type { Context } from "hono";
import { z } from "zod";
import type { Env } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { numberCursor, optionalParameter, pageOf, pageQuery } from "../../http/paging.ts";
import { resource } from "../../http/resource.ts";
import { AUDIT_SEARCH_WORDS, type AuditItem, type AuditSearch, hasWords, searchWords } from "../../workspace/audit.ts";
import { AUDIT_ACTIONS, AUDIT_GROUPS } from "../../workspace/audit-actions.ts";
import { emailsOf, usersByEmail } from "../../workspace/listing.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

const ID = "[0-9A-Za-z]{12}";

/** Characters of a search: more than a name has. */
const SEARCH_CHARACTERS = 200;

const auditQuery = pageQuery.extend({
  actor: optionalParameter(
    z
      .string()
      .regex(new RegExp(`^(system|(usr|key)_${ID})$`))
      .optional(),
    "A user id, the id of a key that an agent used, or `system`.",
  ),
  action: optionalParameter(
    z.enum([...AUDIT_ACTIONS, ...AUDIT_GROUPS]).optional(),
    "An action, or the part before its dot for all actions of a kind: `key`, `member`.",
  ),
  target: optionalParameter(
    z
      .string()
      .regex(new RegExp(`^(usr|key|inv|proj|ws|fam|view|board|dest|dlv|alert|grant)_${ID}$`))
      .optional(),
    "The id of what was changed.",
  ),
  search: optionalParameter(
    z
      .string()
      .max(SEARCH_CHARACTERS)
      .refine(
        (text) => searchWords(text).length <= AUDIT_SEARCH_WORDS,
        `Must have at most ${AUDIT_SEARCH_WORDS} words.`,
      )
      .optional(),
    "At most 20 words, each of which an item must have: in its action (`deleted` also finds `key.revoke`), in a name, address or role of `before` and `after`, or in the address of its actor or target: a part of a member's address, the whole one of others. Ignores case.",
  ),
});

const stateSchema = z.record(z.string(), z.unknown());

const auditSchema = z.object({
  id: z.string().describe("Unique within the workspace."),
  at: z.iso.datetime(),
  actor: z
    .string()
    .describe(
      "A user id, the id of a key that an agent used, or `system` for a deleted account or for the purge of an address.",
    ),
  actorEmail: z.string().nullable().describe("`null` for `system` and for deleted accounts."),
  action: z.string().describe(`One of ${AUDIT_ACTIONS.map((action) => `\`${action}\``).join(", ")}.`),
  target: z.string().describe("The id of what was changed; of a `session.start`, the session."),
  targetEmail: z.string().nullable().describe("Present if the target is a user."),
  address: z.string().nullable().describe("The client IP as limits count it; `null` if no client caused the change."),
  requestId: z.string(),
  before: stateSchema
    .optional()
    .describe("The changed values before the change. Absent if they are large or did not exist."),
  after: stateSchema.optional(),
});

function auditData(item: AuditItem, emails: ReadonlyMap<string, string>): z.output<typeof auditSchema> {
  const { num, at, actor, action, target, address, requestId, before, after } = item;
  return {
    id: `aud_${num}`,
    at: new Date(at).toISOString(),
    actor,
    actorEmail: emails.get(actor) ?? null,
    action,
    target,
    targetEmail: emails.get(target) ?? null,
    address,
    requestId,
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
  };
}

export const audit = resource();

audit.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/audit",
    operation: "audit.list",
    tag: "Workspaces",
    summary: "List changes and sign-ins",
    description: [
      "Newest first, for 365 days: the first use of each session in the workspace, and every change of members, roles,",
      "invitations, projects, keys, limits and settings. An item is written with the change that it records. No request",
      "changes or deletes an item; the list is deleted with the workspace. A page may have fewer items than `limit`, even none, before the",
      "end: `nextCursor` is null there.",
    ].join("\n"),
    security: "accessToken",
    query: auditQuery,
    status: 200,
    response: pageOf(auditSchema),
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "audit.list", from: "path" })],
  async (c, { query: { cursor, limit, search: text, ...filter } }) => {
    const before = numberCursor(cursor);
    const search = text === undefined ? undefined : await searchOf(c, text);
    const page = await manage(c, "audit", search === undefined ? filter : { ...filter, search }, before, limit);
    const { next } = page;
    // An object of the version before does not search.
    const items = search === undefined ? page.items : itemsFound(page.items, search);
    const emails = await knownEmails(c.env, items);
    const data = { items: items.map((item) => auditData(item, emails)), nextCursor: next === null ? null : `${next}` };
    return success(data, c.get("requestId"));
  },
);

function itemsFound(items: readonly AuditItem[], { text, emails }: AuditSearch): AuditItem[] {
  const words = searchWords(text);
  return items.filter((item) => hasWords(item, words, emails));
}

/** Adds the addresses of users, which the object does not have. If the directory fails, the search does without. */
async function searchOf(c: Context<AppEnv>, text: string): Promise<AuditSearch> {
  // Only an admitted request reads the directory.
  await c.get("admit")?.();
  try {
    return { text, emails: await usersByEmail(c.env.DB, c.get("workspaceId"), searchWords(text)) };
  } catch {
    return { text, emails: {} };
  }
}

/** Returns the e-mail addresses of users in the items. If the directory fails, the list has ids only. */
async function knownEmails(env: Env, items: readonly AuditItem[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Set(items.flatMap(({ actor, target }) => [actor, target]).filter((id) => id.startsWith("usr_")));
  if (ids.size === 0) return new Map();
  try {
    return await emailsOf(env.DB, [...ids]);
  } catch {
    return new Map();
  }
}
