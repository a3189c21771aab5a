import type { Env } from "../../src/env.ts";
import { WorkspaceObject as ServiceWorkspaceObject } from "../../src/objects/workspace/workspace.ts";
import { direct as service } from "../../src/worker.ts";
import { RowCounter } from "./row-counter.ts";

/**
 * The whole service, with the bindings of its wrangler.toml and two additions: every row that a workspace object writes
 * is counted as the platform would bill it, and the clock can be moved, so that a day's housekeeping is counted, too.
 * Never deployed.
 */

export { AddressObject } from "../../src/objects/address/address.ts";
export { CompactorObject } from "../../src/objects/compactor/compactor.ts";
export { MatcherObject } from "../../src/objects/matcher/matcher.ts";
export { ScannerObject } from "../../src/objects/scanner/scanner.ts";
export { UserObject } from "../../src/objects/user/user.ts";
export { ColdWriter } from "../../src/objects/workspace/entrypoints.ts";

const realNow = Date.now.bind(Date);
let offsetMs = 0;
Date.now = () => realNow() + offsetMs;

const TABLES = ["batches", "batch_parts", "receipts", "rate_seconds", "rate_counters"];

export class WorkspaceObject extends ServiceWorkspaceObject {
  readonly #rows: RowCounter;

  constructor(ctx: DurableObjectState, env: Env) {
    const rows = RowCounter.of(ctx.storage);
    super(ctx, env);
    this.#rows = rows;
  }

  async rows(): Promise<Record<string, number>> {
    return this.#rows.byTable();
  }

  /** Runs the alarm's work now, because the runtime's alarm uses the real clock. */
  async houseKeep(): Promise<void> {
    await this.alarm();
  }

  /** Current rows in the tables that ingest writes to. */
  async held(): Promise<Record<string, number>> {
    const { sql } = this.ctx.storage;
    return Object.fromEntries(
      TABLES.map((table) => [table, Number(sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n)]),
    );
  }
}

interface RowsEnv extends Env {
  WORKSPACES: DurableObjectNamespace<WorkspaceObject>;
}

/**
 * Besides the service's routes: `GET /bench/<workspaceId>/<rows | held | alarm>` and `GET
 * /bench/<workspaceId>/remove/<userId>/<projectId>`. The header `X-Bench-Advance` moves the clock first, by
 * milliseconds.
 */
export const direct = {
  async fetch(request, env, ctx) {
    offsetMs += Number(request.headers.get("X-Bench-Advance") ?? 0);
    const [, first, workspaceId = "", action, userId = "", projectId = ""] = new URL(request.url).pathname.split("/");
    if (first !== "bench") return service.fetch(request, env, ctx);
    const object = env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId));
    if (action === "rows") return Response.json(await object.rows());
    if (action === "held") return Response.json(await object.held());
    if (action === "alarm") {
      await object.houseKeep();
      return Response.json(await object.held());
    }
    if (action === "remove") return Response.json(await object.deleteProject(userId, projectId));
    return new Response(null, { status: 404 });
  },
} satisfies ExportedHandler<RowsEnv>;

export default direct;
