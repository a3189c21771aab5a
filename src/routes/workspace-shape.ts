import { z } from "zod";
import type { WorkspaceInfo } from "../objects/describe-workspace.ts";
import { ROLES } from "../workspace/caller.ts";

export const roleSchema = z.enum(ROLES);

/** A workspace as one of its members sees it. */
export const workspaceShape = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  personal: z.boolean(),
  role: roleSchema.describe("The caller's own role."),
  retentionDays: z.int(),
  createdAt: z.iso.datetime(),
});

export function workspaceData({ createdAt, ...info }: WorkspaceInfo): z.output<typeof workspaceShape> {
  return { ...info, createdAt: new Date(createdAt).toISOString() };
}
