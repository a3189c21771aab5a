import type { Env } from "../../../../src/env.ts";
import { COUNTED, chargeMembers } from "../../../../src/limits/state.ts";
import { buildBatch } from "../../../../src/logs/ingest/build-batch.ts";
import { WorkspaceObject as ServiceWorkspaceObject } from "../../../../src/objects/workspace/workspace.ts";
import { direct as service } from "../../../../src/worker.ts";
import { entriesOf, waitBefore } from "../../alerts/entries.ts";
import type { AlertOrder } from "../../alerts/protocol.ts";
import { Random } from "../../random.ts";

/**
 * The clock that the harness moves, and the route by which it makes commits, runs alarms and ends objects. It imports only what
 * versions without alerts have, too.
 */

const realNow = Date.now.bind(Date);
let offsetMs = 0;
Date.now = () => realNow() + offsetMs;

/** Commits of one turn. */
const TURN_COMMITS = 50;

export class WorkspaceObject extends ServiceWorkspaceObject {
  /** Each call of `ingest` is a commit of its own, as if its requests had come one after the other. */
  async commit(keyHash: string, count: number, seed: number): Promise<void> {
    const random = new Random(seed);
    for (let made = 0; made < count; made++) {
      offsetMs += waitBefore(random);
      const now = Date.now();
      const { batch } = buildBatch(entriesOf(random, now), { now, oldest: null });
      const rest = { idempotency: null, rejected: [], rejectedCount: 0, oldest: now, ...chargeMembers(COUNTED) };
      const [result] = this.core.state.ingest([{ keyHash, projectId: null, batch, ...rest }]) ?? [];
      if (!result?.ok) throw new Error(`A commit was refused: ${result?.code}`);
      if (made % TURN_COMMITS === TURN_COMMITS - 1) await scheduler.wait(0);
    }
    await this.ctx.storage.sync();
  }

  async runAlarms(times: number): Promise<void> {
    await Promise.all(Array.from({ length: times }, () => this.alarm()));
  }

  async endNow(): Promise<void> {
    this.ctx.abort("The harness has ended this object.");
  }
}

interface AlertsEnv extends Env {
  WORKSPACES: DurableObjectNamespace<WorkspaceObject>;
}

export const direct = {
  async fetch(request, env, ctx) {
    if (new URL(request.url).pathname !== "/chaos") return service.fetch(request, env, ctx);
    // SAFETY: only the harness calls this route.
    const order = (await request.json()) as AlertOrder | { do: "plan" | "counts" };
    return Response.json((await obey(order, env)) ?? null);
  },
} satisfies ExportedHandler<AlertsEnv>;

async function obey(order: AlertOrder | { do: "plan" | "counts" }, env: AlertsEnv): Promise<unknown> {
  const object = (workspaceId: string) => env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId));
  switch (order.do) {
    case "clock":
      offsetMs = order.offsetMs;
      return null;
    case "commit":
      await object(order.workspaceId).commit(order.keyHash, order.count, order.seed);
      return offsetMs;
    case "alarms":
      return object(order.workspaceId).runAlarms(order.times);
    case "end":
      return object(order.workspaceId)
        .endNow()
        .catch(() => {});
    default:
      return {};
  }
}
