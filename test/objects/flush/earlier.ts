import { env } from "cloudflare:workers";
import { resetLegacySegmentCache } from "../../../src/logs/cold/store/sources.ts";
import { storeAsLineBlocks } from "./cold.ts";

const BLOBS = ["frames", "levels", "summary", "directory", "filter", "frame_filter", "body"];

/**
 * Moves segments of a workspace to the same table in the directory's database, where the version before `COLD_DB` stored
 * them, as blocks of lines. That version had no trigger, so the trigger is dropped for the time and created again.
 * @param chooses which segments; all by default
 */
export async function storeAsEarlier(
  workspaceId: string,
  chooses: (segment: { firstSeq: number; part: number }) => boolean = () => true,
): Promise<number> {
  const { DB, COLD_DB } = env;
  const { results: projects } = await COLD_DB.prepare(
    "SELECT DISTINCT project_id AS id FROM segments WHERE workspace_id = ?",
  )
    .bind(workspaceId)
    .all<{ id: string }>();
  for (const { id } of projects) await storeAsLineBlocks(workspaceId, id);
  const { results: columns } = await COLD_DB.prepare("SELECT name FROM pragma_table_info('segments')").all<{
    name: string;
  }>();
  const names = columns.map(({ name }) => name).filter((name) => name !== "id");
  const read = names.map((name) => (BLOBS.includes(name) ? `hex(${name}) AS ${name}` : name));
  const { results } = await COLD_DB.prepare(`SELECT ${read.join(", ")} FROM segments WHERE workspace_id = ?`)
    .bind(workspaceId)
    .all<Record<string, string | number>>();
  const moved = results.filter((row) => chooses({ firstSeq: Number(row.first_seq), part: Number(row.part) }));
  const values = names.map((name, index) => (BLOBS.includes(name) ? `unhex(?${index + 1})` : `?${index + 1}`));
  await withoutTrigger(async () => {
    for (const row of moved) {
      await DB.prepare(`INSERT INTO segments (${names.join(", ")}) VALUES (${values.join(", ")})`)
        .bind(...names.map((name) => row[name]))
        .run();
      await COLD_DB.prepare(
        "DELETE FROM segments WHERE workspace_id = ? AND project_id = ? AND first_seq = ? AND part = ?",
      )
        .bind(workspaceId, row.project_id, row.first_seq, row.part)
        .run();
    }
  });
  return moved.length;
}

/** Runs work without the trigger, as before it existed. */
export async function withoutTrigger(work: () => Promise<unknown>): Promise<void> {
  const made = await env.DB.prepare("SELECT sql FROM sqlite_schema WHERE name = 'segments_closed'").first<string>(
    "sql",
  );
  await env.DB.prepare("DROP TRIGGER segments_closed").run();
  await work();
  await env.DB.prepare(made ?? "").run();
  // No isolate may have cached that the workspace has no legacy segments.
  resetLegacySegmentCache();
}

export async function earlierSegments(workspaceId: string): Promise<number> {
  const counted = await env.DB.prepare("SELECT count(*) AS n FROM segments WHERE workspace_id = ?")
    .bind(workspaceId)
    .first<number>("n");
  return Number(counted);
}
