import { slugify, suffixedSlug } from "../accounts/email.ts";
import { randomBase62 } from "../ids.ts";
import { RETENTION_DAYS } from "../logs/entry.ts";
import type { Origin } from "../platform/origin.ts";
import { hasTable, maybe, migrate } from "../platform/sql.ts";
import { fail, ok, type Result } from "../rpc/result.ts";
import { recordAudit } from "./audit.ts";
import type { WorkspaceClaim, WorkspaceClaimed } from "./listing.ts";
import { WORKSPACE_SCHEMA } from "./schema.ts";
import { readWorkspace } from "./settings.ts";

export interface NewWorkspace {
  /** `ws_...`; the object's own name. */
  id: string;
  name: string;
  personal: boolean;
  ownerId: string;
  /** Whether the object deletes itself unless the directory lists it in time. Omitted if the user object does so. */
  settles?: boolean;
}

/**
 * Milliseconds that the creation of a workspace may take from provisioning to the directory, which refuses it
 * afterwards (see `claimWorkspace`).
 */
export const CLAIM_WITHIN_MS = 60_000;
/**
 * Milliseconds from provisioning to the check of the directory. The difference to `CLAIM_WITHIN_MS` allows for clock
 * skew.
 */
const RESOLVE_AFTER_MS = 300_000;

/** Whether this object is a workspace at all: a forged locator reaches an object that has no tables. */
export function isProvisioned(sql: SqlStorage): boolean {
  return hasTable(sql, "workspace");
}

export function provision(sql: SqlStorage, workspace: NewWorkspace, origin: Origin, now: number): void {
  const isNew = !isProvisioned(sql);
  migrate(sql, WORKSPACE_SCHEMA);
  sql.exec(
    `INSERT OR IGNORE INTO workspace (one, id, name, personal, personal_of, retention_days, created_at, settle_at)
     VALUES (1, ?, ?, ?, ?, ?, ?, ?)`,
    workspace.id,
    workspace.name,
    workspace.personal ? 1 : 0,
    workspace.personal ? workspace.ownerId : null,
    RETENTION_DAYS.default,
    now,
    workspace.settles ? now + RESOLVE_AFTER_MS : null,
  );
  sql.exec("INSERT OR IGNORE INTO members (user_id, role, added_at) VALUES (?, 'owner', ?)", workspace.ownerId, now);
  if (!isNew) return;
  const { id, name, ownerId, personal } = workspace;
  const entry = { actor: ownerId, action: "workspace.create", target: id, after: { name, personal } } as const;
  recordAudit(sql, entry, origin, now);
}

/** Stores the slug under which the directory lists the workspace. */
export function confirmListed(sql: SqlStorage, slug: string): void {
  sql.exec("UPDATE workspace SET slug = ?, settle_at = NULL", slug);
}

/** Deletes the workspace, unless it is a personal one. */
export function deleteWorkspace(sql: SqlStorage, origin: Origin, now: number): Result<true> {
  if (readWorkspace(sql).personal)
    return fail("CONFLICT", "A personal workspace can only be deleted with its account.");
  markWorkspaceDeleted(sql, origin, now);
  return ok(true);
}

/** Marks the workspace as deleted. From this turn on every caller is refused; only cleanup remains. */
export function markWorkspaceDeleted(sql: SqlStorage, { requestId }: Origin, now: number): void {
  sql.exec("UPDATE workspace SET deleted_at = ?, deleted_by_request = ?", now, requestId);
}

export interface EndedWorkspace {
  id: string;
  /** Epoch milliseconds. */
  deletedAt: number;
  /** The request or alarm run that deleted it; `null` if an older version did, which did not record it. */
  requestId: string | null;
}

/** Returns a deleted workspace whose cleanup is not finished; `null` for any other object. */
export function deletedWorkspace(sql: SqlStorage): EndedWorkspace | null {
  if (!isProvisioned(sql)) return null;
  return maybe<{ id: string; deletedAt: number; requestId: string | null }>(
    sql,
    "SELECT id, deleted_at AS deletedAt, deleted_by_request AS requestId FROM workspace WHERE deleted_at IS NOT NULL",
  );
}

/** The slug of a workspace whose name has no letter or digit that a slug could keep. */
const FALLBACK_SLUG = "workspace";
/** Random characters that distinguish a taken slug: 36^8 values. */
const SLUG_SUFFIX_LENGTH = 8;

/** The steps of a creation, each of which may be the last one before a crash. */
export interface CreationPorts {
  provision(workspace: NewWorkspace): Promise<void>;
  claim(claim: WorkspaceClaim): Promise<WorkspaceClaimed>;
  confirm(workspaceId: string, slug: string): Promise<void>;
  /** Discards the object. Best effort: without this call the object deletes itself later. */
  discard(workspaceId: string): Promise<void>;
}

export interface Creation {
  id: string;
  name: string;
  ownerId: string;
  /** The slug to request, without an alternative; `null` to derive one from the name. */
  slug: string | null;
}

/**
 * Creates a shared workspace. The object exists before the directory lists it, so that every listed workspace can be
 * used. A workspace that is not listed in time deletes itself.
 */
export async function createWorkspace(
  ports: CreationPorts,
  { id, name, ownerId, slug }: Creation,
  now: number,
): Promise<WorkspaceClaimed> {
  await ports.provision({ id, name, personal: false, ownerId, settles: true });
  const wanted = slug ?? (slugify(name) || FALLBACK_SLUG);
  const claimed = await ports.claim({
    id,
    name,
    ownerId,
    slug: wanted,
    fallbackSlug: slug === null ? suffixedSlug(wanted, randomBase62(SLUG_SUFFIX_LENGTH)) : null,
    now,
    deadline: now + CLAIM_WITHIN_MS,
  });
  if (claimed.ok) await ports.confirm(id, claimed.slug);
  else await ports.discard(id);
  return claimed;
}
