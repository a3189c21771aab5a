import type { Env } from "../env.ts";
import { type HostCommand, type HostReport, hostState, InFlight, tailedWorkspaces } from "../platform/host.ts";
import { callWorkspace } from "../rpc/call.ts";
import type { WorkspaceRpc } from "../rpc/workspace.ts";

/** Milliseconds between two checks of the requests in flight. */
const POLL_MS = 20;
/**
 * Milliseconds in which connections of closed tails may end once no request is in flight. The runtime keeps the connection of
 * a client that has never sent anything for 10 s, and some clients report the close only when the connection ends.
 */
const TAILS_CLOSE_MS = 500;

/** Counts the requests of the service's public socket. */
export const inFlight = new InFlight(Date.now);

/**
 * Connects `npm start` with the worker: one request that lasts as long as the runtime, on a socket in a directory that only
 * the owner of the data can enter. The request's body carries commands, the response carries reports. Not reachable on
 * Cloudflare, where a named entrypoint has no route.
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
    // SAFETY: only `scripts/lib/control.ts` can reach this socket.
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
  // If an object fails, its tails stay open until the runtime ends. Their clients resume at the last `seq`.
  const ofAll = (call: (stub: WorkspaceRpc) => Promise<void>) =>
    Promise.allSettled(closed.map((id) => callWorkspace(env, id, "once", call)));
  await ofAll((stub) => stub.stopTails());
  while (inFlight.count > 0) await scheduler.wait(POLL_MS);
  await scheduler.wait(TAILS_CLOSE_MS);
  await ofAll((stub) => stub.endConnections());
}
