import type { Context } from "hono";
import { type AppEnv, noteLimit } from "../../http/context.ts";
import { success } from "../../http/envelope.ts";
import { ApiError, DISK_NEARLY_FULL, type ErrorCode, refuse } from "../../http/errors.ts";
import { MEMORY_RETRY_SECONDS } from "../../http/resource.ts";
import { acceptedKeys, type ParsedApiKey } from "../../keys/api-key.ts";
import { type Charge, COUNTED, chargeMembers } from "../../limits/state.ts";
import type { Batch } from "../../logs/batch.ts";
import type { IngestBody } from "../../logs/ingest/ingest-body.ts";
import { readStreamHeader, STREAM_HEADER } from "../../logs/ingest/stream-header.ts";
import { callWorkspace } from "../../rpc/call.ts";
import { SANDBOX_WORKSPACE_ID } from "../../sandbox/sandbox.ts";
import type {
  DoorCall,
  DoorFacts,
  DoorTerms,
  IngestCall,
  IngestResult,
  StageResult,
  StoredBefore,
} from "../../workspace/ingest-calls.ts";
import type { Requirement } from "../../workspace/permissions.ts";
import type { Idempotency } from "../../workspace/receipts.ts";
import { type ChargedCaller, chargeOfKey, refuseFailure } from "../guards/workspace.ts";

/** Milliseconds between two calls of an object without room: doubled each time, 6 s in total. */
const ROOM_WAIT_MS = { first: 50, last: 3_200 } as const;

/**
 * Seconds after which a client may retry if a workspace's storage is full, which lasts until D1 accepts segments again.
 */
const STORAGE_RETRY_SECONDS = 60;

/**
 * Bytes of batches that one call carries. A larger request sends its batches while it arrives, and its last call makes
 * all of them visible, so neither the router nor the object holds it whole. Changed only by tests.
 */
export const STAGING = { callBytes: 2 * 1024 * 1024 };

/**
 * Sends the entries of one request to its workspace, where all of them become visible at once or none does. Any route that
 * accepts entries may use it.
 */
export class EntrySender {
  readonly #c: Context<AppEnv>;
  readonly #key: ParsedApiKey;
  readonly #projectId: string | null;
  readonly #door: SenderOfDoor | null;
  /** A random id of the request, if batches of it are staged; empty before. */
  #upload = "";
  #staged = 0;
  #stagedEntries = 0;
  #charge: Charge | null = null;
  #isCounted = false;

  /** @param door of a request in the protocol of another client, which names no project */
  constructor(c: Context<AppEnv>, key: ParsedApiKey, projectId: string | null, door: SenderOfDoor | null = null) {
    this.#c = c;
    this.#key = key;
    this.#projectId = projectId;
    this.#door = door;
  }

  /** The request's sender, for requests that are refused before their entries are sent. */
  get caller(): ChargedCaller {
    const { hash, workspaceId } = this.#key;
    return { caller: { kind: "key", hash }, workspaceId, charge: () => this.charge(1) };
  }

  /** What the sender must be allowed to do. */
  get requirement(): Requirement {
    const isOnlyScope = this.#door?.isOpenKey ?? false;
    return { scope: "logs:write", role: "owner", projectId: this.#projectId, isOnlyScope };
  }

  /** Returns what the request counts under, once: the first call that reaches the workspace counts it. */
  async charge(units: number): Promise<Charge> {
    if (this.#isCounted) return COUNTED;
    this.#charge ??= await chargeOfKey(this.#c, this.#key, "entries", units);
    return this.#charge;
  }

  /**
   * Stores batches of a request that is still arriving. Ends the request if the workspace refuses it.
   * @param oldest the bound that an earlier call has returned; `null` without one
   * @param recordIds of the batches' records; `undefined` if none has one
   * @returns whether they were stored, or why not
   */
  async stage(batches: readonly Batch[], oldest: number | null, recordIds?: Uint8Array): Promise<Staged> {
    const { env } = this.#c;
    // Entries of the sandbox are counted at the end, when their number is known.
    const isSandbox = this.#key.workspaceId === SANDBOX_WORKSPACE_ID;
    const charge = chargeMembers(isSandbox ? COUNTED : await this.charge(1));
    this.#upload ||= crypto.randomUUID();
    const target = { keyHash: this.#key.hash, projectId: this.#projectId };
    const call = { ...target, upload: this.#upload, batches, oldest, ...charge, ...(recordIds && { recordIds }) };
    const door = this.#door && { ...this.#door, settingsVersion: null, isDerived: false };
    const result = await retryWhileFull<StageResult>(() =>
      callWorkspace(env, this.#key.workspaceId, "once", (stub) =>
        door ? stub.stageDoor({ ...call, door }) : stub.stageBatches(call),
      ),
    );
    updateAcceptedKeys(this.#key, result);
    if (!result.ok && result.code === "TOO_OLD") return { isStored: false, oldest: result.oldest, known: [] };
    if (!result.ok && result.code === "KNOWN_RECORDS")
      return { isStored: false, oldest: result.oldest, known: result.known };
    if (!result.ok) return refuseResult(this.#c, result);
    if (result.limit !== null) this.#isCounted = true;
    noteLimit(this.#c, result.limit);
    this.#staged += batches.length;
    this.#stagedEntries += batches.reduce((sum, { count }) => sum + count, 0);
    return { isStored: true, oldest: result.oldest, known: [] };
  }

  /**
   * Returns what must be known of the key of a door before entries are read. Ends the request if the key is refused.
   * @param asked idempotency key whose entries are asked for, and what the client says it has dropped
   */
  async terms(charge: Charge, asked: Pick<DoorCall, "receipt" | "drops"> = {}): Promise<DoorTerms & StoredBefore> {
    const { env } = this.#c;
    const { hash: keyHash, workspaceId } = this.#key;
    const call = {
      keyHash,
      isOpenKey: this.#door?.isOpenKey ?? false,
      ...chargeMembers(charge),
      ...asked,
    };
    const result = await callWorkspace(env, workspaceId, "once", (stub) => stub.admitDoor(call));
    if (!result.ok) return refuseFailure(this.#c, result);
    acceptedKeys.add(keyHash);
    if (result.limit !== null) this.#isCounted = true;
    noteLimit(this.#c, result.limit);
    return result;
  }

  /**
   * Makes all batches of the request visible.
   * @param door of a request in the protocol of another client
   * @param repeats of its records
   */
  async send(
    body: IngestBody,
    idempotency: Idempotency | null,
    oldest: number | null,
    door: Omit<DoorFacts, "isOpenKey"> | null = null,
    repeats: SentRepeats = {},
  ): Promise<IngestResult> {
    const { batches, rejected, rejectedCount } = body;
    const charge = chargeMembers(await this.charge(body.units));
    const [batch = null, ...more] = batches;
    const call = { keyHash: this.#key.hash, projectId: this.#projectId, ...charge, idempotency, oldest };
    const stream = readStreamHeader(this.#c.req.header(STREAM_HEADER) ?? null);
    const content = { batch, rejected, rejectedCount, ...(stream && { stream }) };
    const isStaged = this.#staged > 0 && body.failure === null;
    const entries = this.#stagedEntries;
    const staged = isStaged ? { staged: { upload: this.#upload, batches: this.#staged, entries } } : {};
    const isSeveral = isStaged || more.length > 0;
    const replay = idempotency ? "replay-safe" : "once";
    const facts = door && this.#door && { ...door, ...this.#door };
    const result = await retryWhileFull(() =>
      callWorkspace(this.#c.env, this.#key.workspaceId, replay, (stub) => {
        if (facts) return stub.ingestDoor({ ...call, ...content, more, ...staged, ...repeats, door: facts });
        if (isSeveral) return stub.ingestBatches({ ...call, ...content, more, ...staged });
        return stub.ingest({ ...call, ...content });
      }),
    );
    updateAcceptedKeys(this.#key, result);
    if ("limit" in result && result.limit) this.#isCounted = true;
    if (result.ok && !result.receipt.duplicate) this.#staged = 0;
    return result;
  }

  /** Deletes what a request has staged and not committed. Call when the request ends. */
  async discard(): Promise<void> {
    if (this.#staged === 0) return;
    this.#staged = 0;
    try {
      const { env } = this.#c;
      await callWorkspace(env, this.#key.workspaceId, "replay-safe", (stub) => stub.discardBatches(this.#upload));
    } catch {
      // The object deletes abandoned batches itself, later.
    }
  }
}

/** What became of batches of a request that is still arriving. */
export interface Staged {
  /** `false` if a batch has an entry that is too old, or that is stored already. Nothing was stored then. */
  isStored: boolean;
  /** The bound of timestamps, epoch milliseconds. */
  oldest: number;
  /** Positions of the records that are stored already. */
  known: readonly number[];
}

/** Records that another request may have stored, and those that no request has. */
export type SentRepeats = Pick<IngestCall, "recordIds" | "mergedCount" | "drops">;

/** A request in the protocol of another client: its key's project is known to the workspace only. */
export type SenderOfDoor = Pick<DoorFacts, "isOpenKey">;

/** Repeats a call for which the object had no room: nothing was stored then. */
async function retryWhileFull<R extends IngestResult | StageResult>(send: () => Promise<R>): Promise<R> {
  for (let waitMs = ROOM_WAIT_MS.first; ; waitMs *= 2) {
    const result = await send();
    if (result.ok || result.code !== "SERVICE_UNAVAILABLE" || waitMs > ROOM_WAIT_MS.last) return result;
    await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())));
  }
}

/** Caches valid keys, so that the key of a large body need not be checked before the body is read. */
function updateAcceptedKeys({ hash }: ParsedApiKey, result: IngestResult | StageResult): void {
  if (result.ok || ("limit" in result && result.limit !== null)) acceptedKeys.add(hash);
  else if (KEY_FAULTS.has(result.code)) acceptedKeys.delete(hash);
}

const KEY_FAULTS: ReadonlySet<string> = new Set<ErrorCode>(["INVALID_API_KEY", "API_KEY_EXPIRED", "API_KEY_REVOKED"]);

/** The response of a request with these entries. */
export async function answerEntries(c: Context<AppEnv>, result: IngestResult, body: IngestBody): Promise<Response> {
  const fields = c.get("log");
  if (result.ok) {
    noteLimit(c, result.limit);
    const { accepted, rejectedCount, duplicate } = result.receipt;
    Object.assign(fields, { accepted, rejected: rejectedCount, duplicate });
    return success(result.receipt, c.get("requestId"), 201);
  }
  if (result.code !== "VALIDATION_ERROR") return refuseResult(c, result);
  noteLimit(c, result.limit);
  fields.rejected = body.rejectedCount;
  if (body.failure === null) {
    return refuse("VALIDATION_ERROR", "The request has no valid entry.", { details: body.rejected });
  }
  const code = body.failure.reason === "too_many" ? "PAYLOAD_TOO_LARGE" : "VALIDATION_ERROR";
  return refuse(code, body.failure.message);
}

/** Ends a request that its workspace has refused, whatever its entries are. */
export function refuseResult(c: Context<AppEnv>, result: Exclude<IngestResult, { ok: true }>): never | Promise<never> {
  switch (result.code) {
    case "KNOWN_RECORDS":
      return refuse("SERVICE_UNAVAILABLE", "The same entries are being stored. Try again.", {
        headers: { "Retry-After": MEMORY_RETRY_SECONDS },
      });
    case "TOO_OLD":
    case "STALE_SETTINGS":
      // They change faster than the entries can be read again.
      return refuse("SERVICE_UNAVAILABLE", "The retention or the settings of the key are changing. Try again.", {
        headers: { "Retry-After": MEMORY_RETRY_SECONDS },
      });
    case "VALIDATION_ERROR":
      throw new Error("A batch that is not empty has no entry.");
    case "SANDBOX_FULL": {
      const headers = { "Retry-After": String(Math.ceil(result.retryAfter / 1000)) };
      return refuse("SERVICE_UNAVAILABLE", "The sandbox cannot store more entries for now.", { headers });
    }
    case "STORAGE_FULL": {
      noteLimit(c, result.limit);
      const headers = { "Retry-After": String(STORAGE_RETRY_SECONDS) };
      return refuse("SERVICE_UNAVAILABLE", "The workspace cannot store more entries for now.", { headers });
    }
    case "DISK_FULL":
      noteLimit(c, result.limit);
      throw new ApiError(DISK_NEARLY_FULL);
    case "SERVICE_UNAVAILABLE":
      return refuse("SERVICE_UNAVAILABLE", result.message, { headers: { "Retry-After": MEMORY_RETRY_SECONDS } });
    default:
      return refuseFailure(c, result);
  }
}
