import { z } from "zod";
import { success } from "../http/envelope.ts";
import { refuse } from "../http/errors.ts";
import { resource } from "../http/resource.ts";
import { callAddress } from "../objects/stubs.ts";

export const health = resource();

health.route(
  {
    method: "GET",
    path: "/health",
    operation: "service.health",
    tag: "Operations",
    summary: "Check the service",
    description: "Asks D1 and an object; 503 when either does not answer.",
    security: "none",
    status: 200,
    response: z.object({ status: z.literal("ok"), database: z.literal("ok"), objects: z.literal("ok") }),
    errors: ["SERVICE_UNAVAILABLE"],
  },
  [],
  async (c) => {
    const [database, objects] = await Promise.all([
      answers(c.env.DB.prepare("SELECT 1").run()),
      answers(callAddress(c.env, "health", "replay-safe", (stub) => stub.ping())),
    ]);
    if (database && objects) return success({ status: "ok", database: "ok", objects: "ok" }, c.get("requestId"));
    return refuse("SERVICE_UNAVAILABLE", `${database ? "Objects do" : "The database does"} not answer.`, {
      headers: { "Retry-After": "5" },
    });
  },
);

async function answers(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch {
    return false;
  }
}
