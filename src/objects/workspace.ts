import { DurableObject } from "cloudflare:workers";
import type { Env } from "../env.ts";
import { type NewWorkspace, provision } from "../workspace/provision.ts";

/**
 * One workspace: the single writer of its members, projects, keys, limits, `seq` and recent batches.
 * Everything that must be exact is decided here, in one synchronous turn.
 */
export class WorkspaceObject extends DurableObject<Env> {
  /** Makes the workspace exist. Safe to repeat with the same values. */
  async provision(workspace: NewWorkspace): Promise<void> {
    this.ctx.storage.transactionSync(() => provision(this.ctx.storage.sql, workspace, Date.now()));
  }

  /** Deletes everything. For a registration that lost the race for its address, and for account deletion. */
  async destroy(): Promise<void> {
    await this.ctx.storage.deleteAlarm();
    await this.ctx.storage.deleteAll();
  }
}
