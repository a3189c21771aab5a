import type { Context } from "hono";
import type { CountedQuery, RuleDefinition } from "../../alerts/definition.ts";
import { type Replay, replay } from "../../alerts/replay.ts";
import type { AppEnv } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import { ExportMemory } from "../../logs/export/memory.ts";
import { bySeq, type Reader, reportUnreadable } from "../logs/reader.ts";

/** Milliseconds that a preview replays. */
const REPLAYED_MS = 7 * 24 * 60 * 60 * 1000;

const MEMORY_RETRY = { headers: { "Retry-After": "5" } } as const;

/** Decides as a rule would have decided that was created 7 days ago, for a reader whose request is counted. */
export async function previewAlert(
  c: Context<AppEnv>,
  reader: Reader,
  projectId: string,
  definition: RuleDefinition,
  query: CountedQuery,
): Promise<Replay> {
  const { workspaceId } = reader;
  const source = { workspaceId, projectId, ...bySeq(c, reader, projectId), report: reportUnreadable(c, workspaceId) };
  const memory = await ExportMemory.take("ndjson");
  if (memory === null) return refuse("SERVICE_UNAVAILABLE", "Too many logs are being read at once.", MEMORY_RETRY);
  try {
    const now = Date.now();
    return await replay(source, definition, query, { from: now - REPLAYED_MS, now }, memory);
  } finally {
    memory.release();
  }
}
