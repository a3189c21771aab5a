import { z } from "zod";
import { fromBase62, ID_LENGTH, isId, toBase62 } from "../ids.ts";
import { LEVELS } from "./entry.ts";

/** Returns an entry's id: its project and `seq`. Nothing is stored for it, and it is the same in both tiers. */
export function logId(projectId: string, seq: number): string {
  return `log_${projectId.slice(5)}${toBase62(seq)}`;
}

/** Returns the project and `seq` of an id; `null` if `logId` cannot have written it. */
export function parseLogId(id: string): { projectId: string; seq: number } | null {
  const projectId = `proj_${id.slice(4, 4 + ID_LENGTH)}`;
  if (!id.startsWith("log_") || !isId("proj", projectId)) return null;
  const seq = fromBase62(id.slice(4 + ID_LENGTH));
  return seq === null || seq < 1 ? null : { projectId, seq };
}

/** An entry as every read returns it. Documents `StoredEntry`. */
export const storedEntrySchema = z.object({
  id: z.string(),
  timestamp: z.iso.datetime(),
  level: z.enum(LEVELS),
  category: z.string(),
  type: z.string(),
  message: z.string(),
  session: z.string().optional(),
  traceId: z.string().optional(),
  spanId: z.string().optional(),
  service: z.string().optional(),
  host: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
  seq: z.int().describe("The entry's number in its project, from 1 and without gaps."),
  projectId: z.string(),
  receivedAt: z.iso.datetime(),
});

/** Documents `QueryPage`. */
export const queryPageSchema = z.object({
  logs: z.array(storedEntrySchema),
  pagination: z.object({
    offset: z.int(),
    limit: z.int(),
    hasMore: z.boolean(),
    nextCursor: z
      .string()
      .nullable()
      .describe("Continues after this page in the same snapshot. `null` on the last page."),
    total: z.int().optional().describe("Number of all matches in the snapshot, if requested with `includeTotal`."),
  }),
  complete: z
    .boolean()
    .describe(
      "`false` if the request's budget ran out. The page may then have fewer rows than `limit`, or none, without being the last.",
    ),
  asOf: z.string().describe("The snapshot that was read. Opaque; send it back to read the same snapshot again."),
  stats: z.object({
    scanned: z.int().describe("Entries in the batches that were scanned."),
    recent: z.int().describe("Rows of this page from the recent tier."),
    stored: z.int().describe("Rows of this page from the cold tier."),
    tookMs: z.int(),
  }),
});
