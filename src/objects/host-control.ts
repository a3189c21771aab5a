import type { Env } from "../env.ts";
import type { HostOrder, HostReport } from "../platform/host-orders.ts";
import { hostState } from "../platform/host-state.ts";
import { InFlight } from "../platform/in-flight.ts";
import { queryMemory } from "../platform/isolate-budget.ts";
import { tailedWorkspaces } from "../tail/tailed-workspaces.ts";
import { callWorkspace } from "./stubs.ts";

/** Milliseconds between two looks at the requests in flight. */
const POLL_MS = 20;

/** Requests of the service's own socket. */
export const inFlight = new InFlight(Date.now);

/**
 * Where `npm start` talks to the worker: one request for as long as the runtime runs, on a socket in a directory that only
 * the owner of the data can enter. Its body brings orders; its answer comes after the last one. Not reachable elsewhere: a
 * named entrypoint has no route on Cloudflare.
 */
export async function obeyHost(request: Request, env: Env): Promise<Response> {
  if (request.body === null) return new Response(null, { status: 400 });
  const report: HostReport = { hasClosedTails: false };
  let rest = "";
  for await (const chunk of request.body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    // SAFETY: `scripts/lib/control.ts` alone can reach this socket.
    for (const line of lines) await obey(JSON.parse(line) as HostOrder, report, env);
  }
  return Response.json(report);
}

async function obey(order: HostOrder, report: HostReport, env: Env): Promise<void> {
  switch (order.do) {
    case "disk":
      hostState.disk = order.disk;
      return;
    case "stop":
      hostState.isStopping = true;
      report.hasClosedTails = tailedWorkspaces.size > 0;
      await stopTails(env);
      // A read holds memory until its client has read the answer.
      while (inFlight.count > 0 || queryMemory.held > 0) await scheduler.wait(POLL_MS);
  }
}

/** A workspace whose object fails keeps its tails until the runtime ends: their clients resume by the last `seq`. */
async function stopTails(env: Env): Promise<void> {
  await Promise.allSettled(
    [...tailedWorkspaces].map((id) => callWorkspace(env, id, "once", (stub) => stub.stopTails())),
  );
}
