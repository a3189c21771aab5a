import type { StoredTotals } from "../../logs/cold/store.ts";

/** Up to which `seq` a project's entries are in the cold tier. */
export interface Watermark {
  projectId: string;
  seq: number;
}

/**
 * What a workspace has in the cold tier, as of the moment at which the object told the watermarks: what has arrived since,
 * or is still counted as recent, lies above them, and deleted projects have none.
 */
export async function storedUsage(
  db: D1Database,
  workspaceId: string,
  watermarks: readonly Watermark[],
): Promise<StoredTotals> {
  const flushed = watermarks.filter(({ seq }) => seq > 0);
  const none = { segments: 0, entries: 0, bytes: 0 };
  if (flushed.length === 0) return none;
  const totals = await db
    .prepare(
      `SELECT count(*) AS segments, coalesce(sum(count), 0) AS entries, coalesce(sum(stored_bytes), 0) AS bytes
       FROM segments JOIN json_each(?2) AS project ON project_id = project.value ->> 'projectId'
         AND last_seq <= project.value ->> 'seq'
       WHERE workspace_id = ?1`,
    )
    .bind(workspaceId, JSON.stringify(flushed))
    .first<StoredTotals>();
  return totals ?? none;
}
