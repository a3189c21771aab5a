import { SYSTEM } from "../../../../../src/workspace/audit-actions.ts";
import type { ApiKey, AuditItem } from "../../../model/types.ts";

/**
 * Who revoked a key, which the console calls deleted, by the audit: it has revocations of earlier versions of the console and the
 * service, too.
 */

export type RevokedKey = Pick<ApiKey, "id" | "revokedAt">;

/** Milliseconds that the item of a change may be later than the change itself. */
const LATER_MS = 1000;

/** Changes of a member that revoke the member's keys. */
const WITH_MEMBER: Readonly<Record<string, string>> = {
  "member.remove": "member removed",
  "member.change": "role changed",
  "member.leave": "left",
  "key.revoke": "account secured",
};

/**
 * Returns who revoked each key, in words. Keys without an item are left out: their revocation is older than the audit, or the
 * service has not recorded it.
 * @param items of the actions on keys and members, in any order
 */
export function revokersOf(keys: readonly RevokedKey[], items: readonly AuditItem[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { id, revokedAt } of keys) {
    if (revokedAt === null) continue;
    const own = items.find(({ action, target }) => action === "key.revoke" && target === id);
    const item = own ?? items.find((each) => tookMany(each) && isAt(each, revokedAt));
    if (item !== undefined) found.set(id, item === own ? actorOf(item) : `${actorOf(item)} (${reasonOf(item)})`);
  }
  return found;
}

function tookMany({ after }: AuditItem): boolean {
  return typeof after?.keysRevoked === "number";
}

function isAt({ at }: AuditItem, revokedAt: string): boolean {
  const later = Date.parse(at) - Date.parse(revokedAt);
  return later >= 0 && later < LATER_MS;
}

function actorOf({ actor, actorEmail }: AuditItem): string {
  return actor === SYSTEM ? "the service" : (actorEmail ?? actor);
}

function reasonOf({ action, target, targetEmail }: AuditItem): string {
  return `${WITH_MEMBER[action] ?? action}: ${targetEmail ?? target}`;
}
