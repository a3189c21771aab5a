import type { Context } from "hono";
import { z } from "zod";
import { type AppEnv, noteLimit, originOf } from "../../http/context.ts";
import { refuse } from "../../http/errors.ts";
import type { Resource } from "../../http/resource.ts";
import { COUNTED, chargeMembers, type LimitState } from "../../limits/state.ts";
import type { LokiReading } from "../../logs/loki/reading.ts";
import { type LogsQuery, runLogs } from "../../logs/loki/run-logs.ts";
import { lokiTailFilter, tailResults } from "../../logs/loki/tail-filter.ts";
import { ScanPacer, SEARCH_BUDGET } from "../../logs/query/budget.ts";
import { withLeasedMemory } from "../../logs/query/memory.ts";
import { fetchWorkspace } from "../../rpc/call.ts";
import { TAIL_LIMIT_HEADER, TAIL_REFUSAL_HEADER, type TailFailure } from "../../rpc/tail.ts";
import { isolateShares } from "../../tail/shares.ts";
import type { Reader } from "../logs/reader.ts";
import { searchSource } from "../logs/reader.ts";
import { addressOf, authorityOf, refuseTail, tailRequest } from "../logs/tail.ts";
import { answerLikeLoki, checkedRead, lokiReader, refusing } from "./loki-route.ts";
import { limitOf, millisecondsFrom, timeOf } from "./parameters.ts";
import { logsOf, required, timeParameter } from "./query.ts";
import { LokiTailMemory, TailBridge } from "./tail-bridge.ts";

const HOUR = 3_600_000_000_000n;
/** Entries before the first new one, by default and at most. */
const HISTORY = { usual: 100, max: 5000 };
/** All tails of the isolate (module state). */
const memoryOfTails = new LokiTailMemory(isolateShares);

export function addLokiTail(resource: Resource): void {
  resource.route(
    {
      method: "GET",
      path: "/loki/api/v1/tail",
      operation: "loki.tail",
      tag: "Loki",
      summary: "Follow entries with LogQL over a WebSocket",
      description: [
        'Frames: `{"streams":[{"stream":{...},"values":[["<ns>","line"]]}],"dropped_entries":[]}`. First the newest `limit` entries',
        "since `start`, then each entry as it is committed. Stages of LogQL apply. Needs an API key, which names the project.",
      ].join("\n"),
      security: "either",
      documentedQuery: z.object({
        query: z.string().describe("LogQL for entries."),
        start: timeParameter,
        limit: z.string().optional(),
        delay_for: z.string().optional().describe("Accepted and not used: entries are sent as they are committed."),
      }),
      headers: { Upgrade: "`websocket`" },
      status: 101,
      response: z.null(),
      errors: ["VALIDATION_ERROR", "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPE", "CONFLICT"],
      isForeign: true,
      answerLike: answerLikeLoki,
    },
    [],
    serveTail,
  );
}

async function serveTail(c: Context<AppEnv>): Promise<Response> {
  const reader = await lokiReader(c);
  const now = BigInt(Date.now()) * 1_000_000n;
  const query = await checkedRead(c, reader, (): LogsQuery => {
    const params = new URL(c.req.url).searchParams;
    if (c.req.header("Upgrade")?.toLowerCase() !== "websocket")
      refuse("VALIDATION_ERROR", "This is a WebSocket: send Upgrade: websocket.");
    const expression = logsOf(required(params, "query"));
    tailResults(expression);
    const from = millisecondsFrom(timeOf(params, "start", now - HOUR));
    const limit = limitOf(params, "limit", HISTORY.usual, HISTORY.max);
    return { expression, from, to: Number.MAX_SAFE_INTEGER, order: "desc", limit, interval: 0 };
  });
  const source = searchSource(c, reader, null);
  const read = (limit: number) =>
    withLeasedMemory({ rows: limit }, async (memory) => {
      const reading: LokiReading = { source, budget: SEARCH_BUDGET, memory, pacer: new ScanPacer() };
      const results = await refusing(() => runLogs(reading, { ...query, limit }));
      memory.release();
      return results;
    });
  // Admits and counts the request, and names the project of the key.
  await read(1);
  const { projectId } = c.get("log");
  if (typeof projectId !== "string")
    refuse("CONFLICT", "Tail with an API key: an access token does not name a project.");
  const live = await openLive(c, reader, projectId, lokiTailFilter(query.expression));
  const [client, server] = Object.values(new WebSocketPair());
  if (!client || !server) throw new Error("A WebSocketPair must have two sockets.");
  const bridge = new TailBridge(server, live, tailResults(query.expression));
  bridge.start(memoryOfTails.open(projectId, bridge));
  // Entries that were committed meanwhile are in both, and are sent once.
  try {
    bridge.sendHistory((await read(query.limit)) ?? []);
  } catch (error) {
    bridge.leave();
    throw error;
  }
  return new Response(null, { status: 101, webSocket: client });
}

async function openLive(c: Context<AppEnv>, reader: Reader, projectId: string, filter: string): Promise<WebSocket> {
  const { workspaceId } = reader;
  const call = {
    reader: authorityOf(c, reader),
    projectId,
    ...chargeMembers(COUNTED),
    origin: originOf(c),
    workspaceId,
  };
  const request = tailRequest({ ...call, filter, since: null, ...addressOf(c, workspaceId) });
  const answer = await fetchWorkspace(c.env, workspaceId, request);
  if (answer.webSocket === null) {
    const refusal = decodeURIComponent(answer.headers.get(TAIL_REFUSAL_HEADER) ?? "");
    // SAFETY: the object wrote it.
    return refuseTail(c, JSON.parse(refusal) as TailFailure);
  }
  const limit = answer.headers.get(TAIL_LIMIT_HEADER);
  // SAFETY: the object wrote it.
  noteLimit(c, limit === null ? null : (JSON.parse(limit) as LimitState));
  return answer.webSocket;
}
