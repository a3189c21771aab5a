import type { Context } from "hono";
import { z } from "zod";
import type { Env } from "../../env.ts";
import type { AppEnv } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { ApiError, refuse } from "../../http/errors.ts";
import { resource } from "../../http/resource.ts";
import { coldDatabasesOf } from "../../logs/cold/store/sources.ts";
import { hostState } from "../../platform/host.ts";
import { callAddress } from "../../rpc/call.ts";
import { countByAddress } from "../guards/address.ts";

export const health = resource();

health.route(
  {
    method: "GET",
    path: "/health",
    operation: "service.health",
    tag: "Operations",
    summary: "Check the service",
    description: [
      "Checks D1 and an object, at most once a second; 503 if either does not answer. `disk` is present under `npm start`:",
      "`low`, with the status `degraded`, means that entries are refused with 503 and all other requests are served.",
    ].join("\n"),
    security: "none",
    status: 200,
    response: z.object({
      status: z.enum(["ok", "degraded"]),
      database: z.literal("ok"),
      objects: z.literal("ok"),
      disk: z.enum(["ok", "low"]).optional(),
    }),
    errors: ["SERVICE_UNAVAILABLE"],
  },
  [],
  async (c) => {
    const isCounted = await countProbe(c);
    const { database, objects: answering } = await currentState(c.env);
    const objects = answering && isCounted;
    if (database && objects) {
      const { disk } = hostState;
      const status = disk === "low" ? "degraded" : "ok";
      const state = { status, database: "ok", objects: "ok", ...(disk && { disk }) };
      return success(state, c.get("requestId"));
    }
    return refuse("SERVICE_UNAVAILABLE", `${database ? "Objects do" : "The database does"} not answer.`, {
      headers: { "Retry-After": "5" },
    });
  },
);

/** Counts a probe. Returns `false` if the address object cannot: the probe then reports that instead of failing. */
async function countProbe(c: Context<AppEnv>): Promise<boolean> {
  try {
    await countByAddress(c, "API_DEFAULT");
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.refusal.code === "RATE_LIMITED") throw error;
    return false;
  }
}

interface State {
  database: boolean;
  objects: boolean;
}

/** Milliseconds for which one state answers further probes. */
const STATE_MAX_AGE_MS = 1000;

/**
 * The newest state by environment, and its time. Cached in the isolate only. Requests share states and not probes in
 * progress: the runtime ends a request that waits for another request's promise.
 */
const states = new WeakMap<Env, { state: State; at: number }>();

/** Returns a state at most a second old, so that a flood of probes queries database and object once a second. */
async function currentState(env: Env): Promise<State> {
  const known = states.get(env);
  const age = known ? Date.now() - known.at : Number.POSITIVE_INFINITY;
  // The age is negative if the clock was set back.
  if (known && age >= 0 && age <= STATE_MAX_AGE_MS) return known.state;
  const [database, objects] = await Promise.all([
    answers(
      Promise.all(
        [env.DB, ...coldDatabasesOf(env).map(({ db }) => db)].map((database) => database.prepare("SELECT 1").run()),
      ),
    ),
    answers(callAddress(env, "health", "replay-safe", (stub) => stub.ping())),
  ]);
  const state = { database, objects };
  states.set(env, { state, at: Date.now() });
  return state;
}

async function answers(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch {
    return false;
  }
}
