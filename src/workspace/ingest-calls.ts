import type { KeySettings } from "../keys/settings.ts";
import type { ChargedCall, LimitState } from "../limits/state.ts";
import { type Batch, bytesOf } from "../logs/batch.ts";
import type { ClientDrops } from "../logs/ingest/client-drops.ts";
import type { Rejection } from "../logs/ingest/rejection.ts";
import type { StreamReport } from "../logs/ingest/stream-header.ts";
import type { Failure } from "../rpc/result.ts";
import { GROUP_BYTES } from "./group-commit.ts";
import type { LedgerReason } from "./ledger.ts";
import type { Idempotency, Receipt } from "./receipts.ts";
import type { StagedRef } from "./recent/staged-batches.ts";

/** One ingest request, parsed and checked by the router. */
export interface IngestCall extends ChargedCall {
  keyHash: string;
  /** `null` in calls of `ingestDoor`: the project of the key. */
  projectId: string | null;
  idempotency: Idempotency | null;
  /**
   * `null` if no entry is valid: the request still counts, and an earlier receipt is still returned. Or if all batches are
   * staged.
   */
  batch: Batch | null;
  /** The batches after `batch`. Only in calls of `ingestBatches`, because older objects would ignore them. */
  more?: readonly Batch[];
  /** The batches before `batch`, stored by `stageBatches`. Only in calls of `ingestBatches`. */
  staged?: StagedRef;
  rejected: Rejection[];
  rejectedCount: number;
  /** The age bound that an earlier call returned as `tooOld`, so that the second call cannot fail on a later one. */
  oldest: number | null;
  /** Only in calls of `ingestDoor`. */
  door?: DoorFacts;
  /** The numbers of the entries in the client's stream, if it sent them. */
  stream?: StreamReport;
  /** Ids of the records of all batches, in order: 16 bytes each, zeros for a record without. Only in calls of `ingestDoor`. */
  recordIds?: Uint8Array;
  /** Records that the request has left out, because they are stored already. Only in calls of `ingestDoor`. */
  mergedCount?: number;
  /** What the client says it has dropped. Only in calls of `ingestDoor`; objects of an older version ignore it. */
  drops?: ClientDrops;
}

/** What a request in the protocol of another client adds to a call. */
export interface DoorFacts {
  /**
   * Version of the key's settings with which the entries were read; `null` if the object returned them after the request
   * had begun.
   */
  settingsVersion: number | null;
  /** Whether the key was in the URL, so that it may have no other scope. */
  isOpenKey: boolean;
  /** Whether the idempotency key was made from the content. */
  isDerived: boolean;
}

/** What a router must know of a key before it reads the entries of another client's protocol. */
export interface DoorTerms {
  settings: KeySettings;
  settingsVersion: number;
  /** Entries with an earlier timestamp get the time of receipt, epoch milliseconds. */
  oldest: number;
}

/** A call that admits a request in the protocol of another client, before its body is read or if it has no entries. */
export interface DoorCall extends ChargedCall {
  keyHash: string;
  isOpenKey: boolean;
  /** Idempotency key whose entries are asked for. */
  receipt?: Uint8Array;
  /** As in `IngestCall`, of a request without entries. */
  drops?: ClientDrops;
}

export type DoorResult = ({ ok: true; limit: LimitState | null } & DoorTerms & StoredBefore) | Failure;

export interface StoredBefore {
  /**
   * Number of the entries that a request with the idempotency key of `DoorCall.receipt` has sent, and its body hash. Absent
   * without such a request, and from objects of an older version.
   */
  stored?: { entries: number; body: Uint8Array };
}

export type IngestResult =
  | { ok: true; limit: LimitState | null; receipt: Receipt }
  /** No entry is valid and no receipt exists: a 400, which leaves no receipt. */
  | { ok: false; code: "VALIDATION_ERROR"; limit: LimitState | null }
  /**
   * Some entry is older than the retention. Nothing was counted: build the batch without these entries and call again.
   */
  | { ok: false; code: "TOO_OLD"; oldest: number }
  /** The entries were read with other settings of the key. Nothing was counted: read them with these and call again. */
  | ({ ok: false; code: "STALE_SETTINGS" } & DoorTerms)
  /** Records of the request are stored already. Nothing was counted: leave these out and call again. */
  | { ok: false; code: "KNOWN_RECORDS"; known: number[]; oldest: number }
  /** The sandbox accepts no more for now. `retryAfter` in milliseconds. */
  | { ok: false; code: "SANDBOX_FULL"; retryAfter: number }
  /** The object's storage is nearly full, because its batches do not move to the cold tier. */
  | { ok: false; code: "STORAGE_FULL"; limit: LimitState | null }
  /** The disk of the machine is nearly full. */
  | { ok: false; code: "DISK_FULL"; limit: LimitState | null }
  /** Waiting calls use all the memory. Nothing was counted: call again soon. */
  | { ok: false; code: "SERVICE_UNAVAILABLE"; message: string; limit: null }
  | Failure;

/** Maximum bytes of a call besides its batch. */
const CALL_BYTES = 1024;

/** Bytes that a call uses in memory until its commit. */
export function sizeOfCall(call: Pick<IngestCall, "batch" | "more" | "rejected" | "recordIds">): number {
  const idBytes = call.recordIds?.length ?? 0;
  return CALL_BYTES + bytesOf(batchesOf(call)) + call.rejected.length * CALL_BYTES + idBytes;
}

/** Bytes that a call writes. Staged batches, whatever their size, are alone in their group. */
export function weightOfCall(call: IngestCall): number {
  return call.staged ? GROUP_BYTES : sizeOfCall(call);
}

/** The batches that a call carries, in order. */
export function batchesOf({ batch, more = [] }: Pick<IngestCall, "batch" | "more">): readonly Batch[] {
  return batch === null ? more : [batch, ...more];
}

/** Why the entries of a call are not stored; `null` if they are, or if the client will send them again at once. */
export function reasonOf({ door }: IngestCall, result: IngestResult): LedgerReason | null {
  if (result.ok) return result.receipt.duplicate && door?.isDerived ? "merged" : null;
  switch (result.code) {
    case "VALIDATION_ERROR":
      return "rejected";
    case "RATE_LIMITED":
      return "limited";
    case "STORAGE_FULL":
    case "DISK_FULL":
      return "full";
    default:
      return null;
  }
}

/** Entries of a call: stored, staged, left out and rejected. */
export function entriesOf({ staged, rejectedCount, mergedCount = 0, ...call }: IngestCall): number {
  const others = rejectedCount + mergedCount + (staged?.entries ?? 0);
  return batchesOf(call).reduce((sum, { count }) => sum + count, others);
}

/** Batches of a request that is too large for one call, in order after those that `upload` already has. */
export interface StageCall extends ChargedCall {
  keyHash: string;
  /** `null` in calls of `stageDoor`: the project of the key. */
  projectId: string | null;
  /** Only in calls of `stageDoor`. */
  door?: DoorFacts;
  /** A random id of the request. */
  upload: string;
  batches: readonly Batch[];
  /** As in `IngestCall`. */
  oldest: number | null;
  /** As in `IngestCall`, of these batches. Only in calls of `stageDoor`. */
  recordIds?: Uint8Array;
}

export type StageResult =
  /** `oldest`: entries with an earlier timestamp are refused, epoch milliseconds. */
  { ok: true; limit: LimitState | null; oldest: number } | Exclude<IngestResult, { ok: true }>;

/** Returned if the object has no memory left for the call. */
export const BUSY = {
  ok: false,
  code: "SERVICE_UNAVAILABLE",
  message: "The workspace receives too many entries at once. Try again.",
  limit: null,
} as const;

/** What is full: the object's storage, or the disk of all objects. */
export type FullStorage = "STORAGE_FULL" | "DISK_FULL";

/** Returned if batches of an upload have been deleted: it took too long. Nothing was stored. */
export const LOST_UPLOAD: IngestResult = {
  ok: false,
  code: "SERVICE_UNAVAILABLE",
  message: "The body took too long to arrive. Send it again.",
  limit: null,
};
