import type { Context } from "hono";
import type { z } from "zod";
import { looksLikeAgentToken, parseAgentToken } from "../../grants/tokens.ts";
import { type AppEnv, bearerToken, finishAfterDisconnect, readInSession } from "../../http/context.ts";
import { streamedSuccess } from "../../http/envelope.ts";
import { refuse } from "../../http/errors.ts";
import { jsonBody } from "../../http/resource.ts";
import { isId } from "../../ids.ts";
import { looksLikeApiKey } from "../../keys/api-key.ts";
import { type Charge, COUNTED, chargeMembers } from "../../limits/state.ts";
import type { ReportUnreadable } from "../../logs/batch.ts";
import { ColdTier } from "../../logs/cold/store/cold-tier.ts";
import { STORE_LIMITS } from "../../logs/cold/store/store.ts";
import { parseExactly } from "../../logs/ingest/exact-json.ts";
import { type LeasedMemory, type ReadNeeds, withLeasedMemory } from "../../logs/query/memory.ts";
import type { RecentPage } from "../../logs/query/recent-feed.ts";
import type { LogSource } from "../../logs/query/tiers.ts";
import type { SearchSource } from "../../logs/search/search-query.ts";
import type { StatsSource } from "../../logs/stats/count-entries.ts";
import { PART_SIZES, type ScanPool } from "../../logs/stats/count-parts.ts";
import { logEvent } from "../../platform/log.ts";
import { callWorkspace, requireMembers, scannerOf } from "../../rpc/call.ts";
import type { PageResult, ReadCall, WorkspaceRpc } from "../../rpc/workspace.ts";
import { settingsOf } from "../../settings.ts";
import type { ColdSeqSource } from "../../tail/cold-range.ts";
import { type Caller, roleFor } from "../../workspace/permissions.ts";
import type { SeqPage, SeqScan } from "../../workspace/recent/reader.ts";
import { countByAddress } from "../guards/address.ts";
import { authenticateUser } from "../guards/user.ts";
import {
  chargeOfKey,
  chargeOfRoute,
  countIfRefused,
  namedWorkspace,
  requireApiKey,
  resultOf,
} from "../guards/workspace.ts";

/** The caller of a read, the workspace whose object decides, and what the request counts under there. */
export interface Reader {
  caller: Caller;
  workspaceId: string;
  charge: Charge;
}

/**
 * Returns the reader by an agent's token; `null` if the token is not an agent's.
 * @throws ApiError for a token that is malformed
 */
export async function agentReader(c: Context<AppEnv>, token: string): Promise<Reader | null> {
  if (!looksLikeAgentToken(token)) return null;
  const parsed = parseAgentToken(token);
  if (parsed === null) {
    await countByAddress(c, "API_DEFAULT");
    return refuse("INVALID_ACCESS_TOKEN", "The bearer token is not a valid access token.");
  }
  const { hash, workspaceId } = parsed;
  c.get("log").workspaceId = workspaceId;
  return { caller: { kind: "grant", hash, userId: "" }, workspaceId, charge: chargeOfRoute(c) };
}

/**
 * Returns the reader by API key, or by access token and `X-Workspace-Id`.
 * @param token the credential, if the route accepts it elsewhere, too
 */
export async function readerOf(c: Context<AppEnv>, token = bearerToken(c)): Promise<Reader> {
  if (token === null) {
    await countByAddress(c, "API_DEFAULT");
    refuse("UNAUTHORIZED", "Send an API key or an access token as Authorization: Bearer.");
  }
  if (looksLikeApiKey(token)) {
    const key = await requireApiKey(c, token);
    const { hash, workspaceId } = key;
    c.get("log").workspaceId = workspaceId;
    return { caller: { kind: "key", hash }, workspaceId, charge: await chargeOfKey(c, key, "reads", 1) };
  }
  const caller = await authenticateUser(c);
  const workspaceId = await namedWorkspace(c, "header");
  return { caller, workspaceId, charge: chargeOfRoute(c) };
}

/** Validates the JSON body of a read. A request with an invalid body is counted, after faults of the caller. */
export function readerBody<S extends z.ZodType>(c: Context<AppEnv>, reader: Reader, schema: S): Promise<z.output<S>> {
  // Exact numbers: one that lost digits would match other entries.
  const body = () => finishAfterDisconnect(c, jsonBody(c.req.raw, schema, parseExactly));
  return readInSession(c, () => countIfReadRefused(c, reader, null, body));
}

/** Reads both tiers of the reader's workspace. The first page admits the request and counts it. */
export function logSource(c: Context<AppEnv>, reader: Reader, projectId: string | null): LogSource {
  const store = new ColdTier(c.env);
  return sourceOf(c, reader, admitOnce(c, reader, projectId, store), store);
}

/** Like `logSource`, with counts. */
export function statsSource(c: Context<AppEnv>, reader: Reader, projectId: string | null): StatsSource {
  const store = new ColdTier(c.env);
  const ask = admitOnce(c, reader, projectId, store);
  return {
    ...sourceOf(c, reader, ask, store),
    recentCounts: (scan) => ask((stub, call) => stub.recentCounts({ ...call, scan })),
    levels: { read: (selection) => orUnavailable(c, store.readLevels(selection)), max: STORE_LIMITS.levels },
    summaries: { read: (selection) => orUnavailable(c, store.readSummaries(selection)), max: STORE_LIMITS.summaries },
    scanners: scanPool(c, reader),
  };
}

/** Milliseconds after which the router reads a part itself. Most parts take a tenth of a second. */
const PART_MS = 10_000;

function scanPool(c: Context<AppEnv>, { workspaceId }: Reader): ScanPool | undefined {
  const { SCANNERS } = c.env;
  const slots = settingsOf(c.env).SCAN_OBJECTS;
  if (SCANNERS === undefined || slots === 0) return undefined;
  return {
    slots,
    sizes: PART_SIZES,
    scan: (slot, call) => {
      const timeout = scheduler.wait(PART_MS).then(() => ({ outcome: "refused" }) as const);
      return Promise.race([scannerOf(SCANNERS, workspaceId, slot).scan(call), timeout]);
    },
  };
}

/** Like `statsSource`, and reads entries by `seq`. */
export function searchSource(c: Context<AppEnv>, reader: Reader, projectId: string | null): SearchSource {
  const { workspaceId } = reader;
  return {
    ...statsSource(c, reader, projectId),
    bySeq: (id) => ({
      scope: { workspaceId, projectId: id, report: reportUnreadable(c, workspaceId) },
      ...bySeq(c, { ...reader, charge: COUNTED }, id),
    }),
  };
}

function sourceOf(c: Context<AppEnv>, { workspaceId }: Reader, ask: PageReader, store: ColdTier): LogSource {
  return {
    workspaceId,
    recent: (scan) => ask((stub, call) => stub.recent({ ...call, scan })),
    cold: {
      findSegments: (selection) => orUnavailable(c, store.findSegments(selection)),
      segmentsBySeq: (...args) => orUnavailable(c, store.segmentsBySeq(...args)),
      readBodies: (id, ranges) => orUnavailable(c, store.readBodies(id, ranges)),
      readFiles: (ranges) => orUnavailable(c, store.readFiles(ranges)),
    },
    report: reportUnreadable(c, workspaceId),
  };
}

/** Logs a separate event for each fault, and adds the number of omitted entries to the event of the request. */
export function reportUnreadable(c: Context<AppEnv>, workspaceId: string): ReportUnreadable {
  return ({ message: fault }, entries) => {
    const log = c.get("log");
    log.unreadable = Number(log.unreadable ?? 0) + entries;
    const { projectId = null } = log;
    const whose = { requestId: c.get("requestId"), workspaceId, projectId };
    const line = { event: "workspace.read", outcome: "unreadable", ...whose, fault, unreadable: entries };
    logEvent(settingsOf(c.env).LOG_LEVEL, "error", line);
  };
}

/** Asks the workspace object for one page. The first page counts the request; every page checks the credential. */
type PageReader = <T extends Tiers>(
  call: (stub: WorkspaceRpc, caller: ReadCall) => Promise<PageResult<T>>,
) => Promise<T>;

/** State of the tiers in a page. Without it the reader cannot tell whether a row occurs in both tiers. */
type Tiers = Pick<RecentPage, "asOf" | "flushed" | "oldest">;

function admitOnce(c: Context<AppEnv>, reader: Reader, projectId: string | null, store: ColdTier): PageReader {
  const { caller, workspaceId } = reader;
  if (projectId !== null && isId("proj", projectId)) c.get("log").projectId = projectId;
  let isCounted = false;
  return async (call) => {
    const charged = chargeMembers(isCounted ? COUNTED : reader.charge);
    const result = await callWorkspace(c.env, workspaceId, isCounted ? "replay-safe" : "once", (stub) =>
      call(stub, { caller, ...charged, projectId, readsColdDb: true, readsFiles: true }),
    );
    const page = await pageOf(c, result);
    if (result.ok) store.restrictTo(result.databases);
    if (result.ok && result.projectId) c.get("log").projectId = result.projectId;
    isCounted = true;
    return requireMembers(page, ["asOf", "flushed", "oldest"]);
  };
}

/** Reads both tiers of a project by `seq`. */
export function bySeq(
  c: Context<AppEnv>,
  reader: Reader,
  projectId: string,
): { recent: (scan: SeqScan) => Promise<SeqPage>; cold: ColdSeqSource } {
  const store = new ColdTier(c.env);
  return { recent: recentBySeq(c, reader, projectId, store), cold: coldBySeq(c, store) };
}

/** Reads batches of a project by `seq`. The first call admits the request and counts it; every call checks the credential. */
function recentBySeq(
  c: Context<AppEnv>,
  { caller, workspaceId, charge }: Reader,
  projectId: string,
  store: ColdTier,
): (scan: SeqScan) => Promise<SeqPage> {
  let isCounted = false;
  return async (scan) => {
    const charged = chargeMembers(isCounted ? COUNTED : charge);
    const call = { caller, ...charged, projectId, scan, readsColdDb: true, readsFiles: true };
    const replay = isCounted ? "replay-safe" : "once";
    const result = await callWorkspace(c.env, workspaceId, replay, (stub) => stub.readBySeq(call));
    const page = await pageOf(c, result);
    if (result.ok) store.restrictTo(result.databases);
    isCounted = true;
    return requireMembers(page, ["lastSeq", "flushedSeq", "oldest", "through", "batches"]);
  };
}

function coldBySeq(c: Context<AppEnv>, store: ColdTier): ColdSeqSource {
  return {
    segmentsBySeq: (...args) => orUnavailable(c, store.segmentsBySeq(...args)),
    readBodies: (...args) => orUnavailable(c, store.readBodies(...args)),
    readFiles: (ranges) => orUnavailable(c, store.readFiles(ranges)),
  };
}

/** Returns a page; a refusal ends the request. An object of the version before calls the page `page`. */
export function pageOf<T>(c: Context<AppEnv>, result: PageResult<T>): Promise<T> {
  // SAFETY: every version sends the page under one of both names.
  return resultOf(c, result.ok ? { ...result, value: result.value ?? (result.page as T) } : result);
}

const COLD_RETRY = { headers: { "Retry-After": "5" } } as const;

/** Refuses the request with 503 if D1 does not answer: a part of the rows would be a wrong answer. */
export async function orUnavailable<T>(c: Context<AppEnv>, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    c.get("log").fault = error instanceof Error ? error.message : "unknown";
    return refuse("SERVICE_UNAVAILABLE", "Older logs cannot be read right now. Try again.", COLD_RETRY);
  }
}

/** `countIfRefused` for requests that read logs. */
export function countIfReadRefused<T>(
  c: Context<AppEnv>,
  { caller, workspaceId, charge }: Reader,
  projectId: string | null,
  read: () => T | Promise<T>,
): Promise<T> {
  const requirement = { scope: "logs:read", role: roleFor("logs.read"), projectId } as const;
  return countIfRefused(c, { caller, workspaceId, charge: () => charge }, requirement, read);
}

const MEMORY_RETRY = { headers: { "Retry-After": "2" } } as const;

/** The JSON of a response's data in parts (see `streamedSuccess`), and the bytes that they hold until they are sent. */
export interface ReadAnswer {
  data: Iterator<string>;
  bytes: number;
}

/**
 * Runs a read with the memory that it needs, and returns its response. Waits while other reads hold all memory.
 * @param rows maximum number of rows that the read holds
 * @param send builds the response
 * @param read may be called again (`withLeasedMemory`), so its source is made outside: a source counts the request once
 */
export function withReadMemory(
  c: Context<AppEnv>,
  rows: number,
  read: (memory: LeasedMemory) => Promise<ReadAnswer>,
  { isPage = false, send = streamedSuccess } = {},
): Promise<Response> {
  const answer = answerOf(c, { rows, isPage }, read, send);
  // A client that disconnects would end the request halfway, and its memory would stay reserved for a minute.
  c.executionCtx.waitUntil(answer.catch(() => undefined));
  return answer;
}

async function answerOf(
  c: Context<AppEnv>,
  needs: ReadNeeds,
  read: (memory: LeasedMemory) => Promise<ReadAnswer>,
  send: typeof streamedSuccess,
): Promise<Response> {
  const response = await withLeasedMemory(needs, async (memory) => {
    // A read that runs again meets the same unreadable entries.
    delete c.get("log").unreadable;
    const { data, bytes } = await read(memory);
    memory.keep(bytes);
    const sending = { onProgress: () => memory.renew(), ended: () => memory.release() };
    return send(data, c.get("requestId"), sending);
  });
  return response ?? refuse("SERVICE_UNAVAILABLE", "Too many logs are being read at once.", MEMORY_RETRY);
}
