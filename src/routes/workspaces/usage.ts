import type { Context } from "hono";
import { z } from "zod";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { resource } from "../../http/resource.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { requireMembers } from "../../rpc/call.ts";
import type { Usage } from "../../workspace/usage.ts";
import { manage, workspaceGuard } from "../guards/member.ts";
import { WORKSPACE_ERRORS } from "./projects.ts";

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

/** What a workspace stores and ingests. */
export const usageShape = z.object({
  recent: z.object({
    entries: z.int(),
    bytes: z.int().describe("As stored, compressed."),
    oldestAt: z.iso.datetime().nullable().describe("The time at which the oldest batch arrived."),
  }),
  stored: z
    .object({ entries: z.int(), bytes: z.int(), segments: z.int() })
    .nullable()
    .describe("Entries in the cold tier. `null` while the cold tier cannot be reached."),
  ingestedToday: z.int().describe("Entries accepted since 00:00 UTC."),
  flush: z.object({
    pendingBatches: z.int().describe("Batches of the recent tier that are not flushed yet."),
    setAside: z.int().describe("Batches that the cold tier cannot take. They stay in the recent tier."),
    lastAt: z.iso.datetime().nullable().describe("The time at which entries last moved to the cold tier."),
    lastError: z.string().nullable().describe("Why entries cannot be moved, or `null`."),
  }),
});

/** Combines the usage that the workspace object reports with that of the cold tier. */
export async function usageData(
  c: Context<AppEnv>,
  workspaceId: string,
  usage: Usage,
): Promise<z.output<typeof usageShape>> {
  const { watermarks, ingestedToday, ...parts } = requireMembers(usage, [
    "recent",
    "watermarks",
    "ingestedToday",
    "flush",
  ]);
  const recent = requireMembers(parts.recent, ["entries", "bytes", "oldestAt"]);
  const flush = requireMembers(parts.flush, ["pendingBatches", "setAside", "lastAt", "lastError"]);
  // The backlog matters most while D1 is unreachable, so the response does not need D1.
  const stored = await new ColdTier(c.env).usageUpTo(workspaceId, watermarks).catch(() => null);
  if (stored === null) c.get("log").stored = "unreachable";
  return {
    recent: { ...recent, oldestAt: isoOrNull(recent.oldestAt) },
    stored,
    ingestedToday,
    flush: { ...flush, lastAt: isoOrNull(flush.lastAt) },
  };
}

export const usage = resource();

usage.route(
  {
    method: "GET",
    path: "/workspaces/:workspaceId/usage",
    operation: "usage.get",
    tag: "Workspaces",
    summary: "Get the usage of a workspace",
    security: "accessToken",
    status: 200,
    response: usageShape,
    errors: WORKSPACE_ERRORS,
  },
  [workspaceGuard({ action: "usage.get", from: "path" })],
  async (c) => {
    const usage = await manage(c, "usage");
    const data = await usageData(c, c.get("workspaceId"), usage);
    return success(data, c.get("requestId"));
  },
);
