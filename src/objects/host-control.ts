import type { Env } from "../env.ts";
import { type HostCommand, type HostReport, hostState, InFlight, tailedWorkspaces } from "../platform/host.ts";
import { callWorkspace, type Stub } from "../rpc/call.ts";
import type { WorkspaceObject } from "./workspace/workspace.ts";

/** Milliseconds between two looks at the requests in flight. */
const POLL_MS = 20;
/**
 * Milliseconds that the connections of closed tails have to end once no request is in flight. The runtime keeps the one of
 * a client that has never sent anything for 10 s, and some clients report the close only at its end.
 */
const TAILS_CLOSE_MS = 500;

/** Requests of the service's own socket. */
export const inFlight = new InFlight(Date.now);

/**
 * Where `npm start` talks to the worker: one request for as long as the runtime runs, on a socket in a directory that only
 * the owner of the data can enter. Its body brings orders, its answer the reports. Not reachable elsewhere: a named
 * entrypoint has no route on Cloudflare.
 */
export function handleHostCommands(request: Request, env: Env, ctx: ExecutionContext): Response {
  const { body } = request;
  if (body === null) return new Response(null, { status: 400 });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  ctx.waitUntil(obeyAll(body, writable.getWriter(), env));
  return new Response(readable);
}

async function obeyAll(
  body: ReadableStream,
  reports: WritableStreamDefaultWriter<Uint8Array>,
  env: Env,
): Promise<void> {
  const report = (text: HostReport) => reports.write(new TextEncoder().encode(`${JSON.stringify(text)}\n`));
  let rest = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    // SAFETY: `scripts/lib/control.ts` alone can reach this socket.
    for (const line of lines) await obey(JSON.parse(line) as HostCommand, report, env);
  }
  await reports.close();
}

async function obey(order: HostCommand, report: (text: HostReport) => Promise<void>, env: Env): Promise<void> {
  switch (order.do) {
    case "disk":
      hostState.disk = order.disk;
      return;
    case "stop":
      hostState.isStopping = true;
      await report({ received: "stop" });
      await stop(env);
  }
}

async function stop(env: Env): Promise<void> {
  const closed = [...tailedWorkspaces];
  // A workspace whose object fails keeps its tails until the runtime ends: their clients resume by the last `seq`.
  const ofAll = (call: (stub: Stub<WorkspaceObject>) => Promise<void>) =>
    Promise.allSettled(closed.map((id) => callWorkspace(env, id, "once", call)));
  await ofAll((stub) => stub.stopTails());
  while (inFlight.count > 0) await scheduler.wait(POLL_MS);
  await scheduler.wait(TAILS_CLOSE_MS);
  await ofAll((stub) => stub.endConnections());
}
