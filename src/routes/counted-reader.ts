import type { Context } from "hono";
import type { AppEnv } from "../http/context.ts";
import { ApiError } from "../http/errors.ts";
import { callWorkspace } from "../objects/stubs.ts";
import { PERMISSIONS } from "../workspace/permissions.ts";
import type { Reader } from "./log-reader.ts";
import { refuseDenied } from "./workspace-guard.ts";

/** Runs what may refuse a request for its own sake. A refused one counts all the same, and the caller's faults come first. */
export async function countIfRefused<T>(
  c: Context<AppEnv>,
  { caller, workspaceId, route }: Reader,
  projectId: string,
  read: () => T,
): Promise<T> {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const requirement = { scope: "logs:read", role: PERMISSIONS["logs.read"], projectId } as const;
    const answer = await callWorkspace(c.env, workspaceId, "once", (stub) => stub.admit(caller, requirement, route));
    if (!answer.ok) return refuseDenied(c, answer);
    if (answer.limit) c.set("limit", answer.limit);
    throw error;
  }
}
