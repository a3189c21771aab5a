import { may } from "../../../../../src/workspace/permissions.ts";
import { type Loaded, useLoad } from "../../../lib/load.ts";
import { visible } from "../../../lib/visible.ts";
import { ableTo } from "../../../model/roles.ts";
import type { ApiKey, AuditItem, Page, Workspace } from "../../../model/types.ts";
import { authorized } from "../../../session/session.ts";
import { KeyList } from "./key-list.tsx";
import { type RevokedKey, revokersOf } from "./revocations.ts";

/** Items of a page of the audit, and pages that are read: the newest 2,000 items of an action. */
const PAGE = 200;
const PAGES = 10;

/** Keys that have expired or were deleted, with who deleted them for a reader of the audit. */
export function EndedKeys({ workspace, keys }: { workspace: Workspace; keys: readonly ApiKey[] }) {
  const mayRead = may(workspace.role, "audit.list");
  const revokers = useRevokers(workspace.id, keys, mayRead);
  const deletedBy = ({ id, name }: ApiKey) => {
    if (!mayRead) return `shown to ${ableTo("audit.list")}`;
    const who = revokers.data === null ? "…" : (revokers.data.found.get(id) ?? revokers.data.otherwise);
    return (
      <>
        {visible(revokers.failure === null ? who : "not loaded")}{" "}
        <a href={`/w/${workspace.id}/settings/audit?target=${id}`}>
          Audit<span class="visually-hidden"> of {name}</span>
        </a>
      </>
    );
  };
  return <KeyList label="Deleted or expired keys" keys={keys} deletedBy={deletedBy} />;
}

interface Revokers {
  found: ReadonlyMap<string, string>;
  /** Words for the other keys. */
  otherwise: "not recorded" | "not found";
}

/** Loads who revoked some keys. @param isWanted whether the reader may read the audit */
function useRevokers(
  workspaceId: string,
  keys: readonly RevokedKey[],
  isWanted: boolean,
): Pick<Loaded<Revokers | null>, "data" | "failure"> {
  const revoked = keys.filter(({ revokedAt }) => revokedAt !== null);
  const of = isWanted && revoked.length > 0 ? `${workspaceId} ${revoked.map(({ id }) => id).join(" ")}` : "";
  return useLoad(of, async (signal): Promise<Revokers | null> => {
    if (of === "") return null;
    const oldest = Math.min(...revoked.map(({ revokedAt }) => Date.parse(revokedAt ?? "")));
    const ofKeys = await itemsSince(workspaceId, "key.revoke", oldest, signal);
    const found = revokersOf(revoked, ofKeys.items);
    if (found.size === revoked.length) return { found, otherwise: "not recorded" };
    const ofMembers = await itemsSince(workspaceId, "member", oldest, signal);
    const areAll = ofKeys.areAll && ofMembers.areAll;
    return {
      found: revokersOf(revoked, [...ofKeys.items, ...ofMembers.items]),
      otherwise: areAll ? "not recorded" : "not found",
    };
  });
}

/** Loads the items of an action or a group since a time, at most `PAGES` pages: `areAll` is false if there are more. */
async function itemsSince(
  workspaceId: string,
  action: string,
  since: number,
  signal: AbortSignal,
): Promise<{ items: AuditItem[]; areAll: boolean }> {
  const items: AuditItem[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < PAGES; page++) {
    const query = new URLSearchParams({ action, limit: String(PAGE), ...(cursor === null ? {} : { cursor }) });
    const { data }: { data: Page<AuditItem> } = await authorized<Page<AuditItem>>(
      `/workspaces/${workspaceId}/audit?${query}`,
      { signal },
    );
    items.push(...data.items);
    cursor = data.nextCursor;
    const last = data.items.at(-1);
    if (cursor === null || (last !== undefined && Date.parse(last.at) < since)) return { items, areAll: true };
  }
  return { items, areAll: false };
}
