import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { expect } from "vitest";
import type { z } from "zod";
import { newId } from "../../../src/ids.ts";
import { SCOPES, type Scope } from "../../../src/keys/scopes.ts";
import { type BatchEncoding, decodeBody } from "../../../src/logs/batch.ts";
import type { Entry } from "../../../src/logs/entry.ts";
import { receiptSchema } from "../../../src/logs/ingest/entry-schema.ts";
import { type Answer, answerOf, bearer } from "../accounts/support.ts";

export type Receipt = z.output<typeof receiptSchema>;

export interface Tenant {
  workspaceId: string;
  ownerId: string;
  projectId: string;
  keyId: string;
  secret: string;
}

/** What ingest needs, without an account: a workspace, a project and a key. */
export async function newTenant(): Promise<Tenant> {
  const [workspaceId, ownerId] = [newId("ws"), newId("usr")];
  await workspace(workspaceId).provision({ id: workspaceId, name: "Test", personal: false, ownerId });
  const projectId = await addProject({ workspaceId, ownerId });
  return { workspaceId, ownerId, projectId, ...(await addKey({ workspaceId, ownerId, projectId })) };
}

/** Adds a project to a workspace. */
export async function addProject(owner: Pick<Tenant, "workspaceId" | "ownerId">): Promise<string> {
  const answer = await workspace(owner.workspaceId).createProject(owner.ownerId, "test");
  if (!answer.ok) throw new Error(answer.code);
  return answer.value.id;
}

/** Adds a key to a project. */
export async function addKey(
  owner: Pick<Tenant, "workspaceId" | "ownerId" | "projectId">,
  scopes: readonly Scope[] = SCOPES,
  expiresAt: number | null = null,
): Promise<{ keyId: string; secret: string }> {
  const request = { name: "test", scopes, expiresAt };
  const answer = await workspace(owner.workspaceId).createKey(owner.ownerId, owner.projectId, request);
  if (!answer.ok) throw new Error(answer.code);
  return { keyId: answer.value.key.id, secret: answer.value.secret };
}

export interface Send {
  type?: string;
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

type Body = string | Uint8Array<ArrayBuffer> | ReadableStream | object;

/** Sends one ingest request through the worker; an object or array is sent as JSON. */
export async function send(
  { projectId, secret }: { projectId: string; secret: string },
  body: Body,
  { type = "application/json", idempotencyKey, headers }: Send = {},
): Promise<Answer> {
  const raw = typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream;
  const request = new Request(`http://taffrail.test/logger/${projectId}/log`, {
    method: "POST",
    headers: {
      ...bearer(secret),
      "Content-Type": type,
      ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
      ...headers,
    },
    body: raw ? body : JSON.stringify(body),
  });
  return answerOf(await exports.default.fetch(request));
}

/** The receipt of a request that must succeed. */
export function receiptOf(answer: Answer): Receipt {
  expect([answer.status, answer.code]).toEqual([201, null]);
  return receiptSchema.parse(answer.data);
}

export async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const zipped = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(zipped).arrayBuffer());
}

export interface StoredRow {
  projectId: string;
  seq: number;
  commit: number;
  entry: Entry;
}

export function workspace(workspaceId: string) {
  return env.WORKSPACES.get(env.WORKSPACES.idFromName(workspaceId));
}

/** Runs on the storage of a workspace object. */
export function onStorage<T>(workspaceId: string, work: (storage: DurableObjectStorage) => T): Promise<T> {
  return runInDurableObject(workspace(workspaceId), (_, { storage }) => work(storage));
}

/** Runs on the SQLite of a workspace object. */
export function onSql<T>(workspaceId: string, work: (sql: SqlStorage) => T): Promise<T> {
  return onStorage(workspaceId, ({ sql }) => work(sql));
}

export function evict(workspaceId: string): Promise<void> {
  return evictDurableObject(workspace(workspaceId));
}

/** All entries of a workspace by commit and seq, read from its tables without the query code. */
export function storedEntries(workspaceId: string): Promise<StoredRow[]> {
  return onSql(workspaceId, (sql) => {
    const rows: StoredRow[] = [];
    const batches = sql.exec(
      `SELECT b.*, p.id AS project_id FROM batches b JOIN projects p ON p.num = b.project ORDER BY commit_no`,
    );
    for (const batch of batches.toArray()) {
      const commit = Number(batch.commit_no);
      const key = Number(batch.parts_key ?? commit);
      const parts = sql.exec("SELECT body FROM batch_parts WHERE commit_no = ? ORDER BY part", key).toArray();
      expect(parts.length + 1).toBe(batch.parts);
      // SAFETY: both columns are `BLOB NOT NULL` in STRICT tables.
      const blobs = [batch, ...parts].map(({ body }) => new Uint8Array(body as ArrayBuffer));
      for (const blob of blobs) expect(blob.length).toBeLessThanOrEqual(1_000_000);
      // SAFETY: the column holds an encoding.
      const raw = decodeBody(batch.encoding as BatchEncoding, new Uint8Array(Buffer.concat(blobs)));
      const lines = new TextDecoder().decode(raw).split("\n");
      expect(lines).toHaveLength(Number(batch.count));
      lines.forEach((line, i) => {
        const seq = Number(batch.first_seq) + i;
        rows.push({ projectId: String(batch.project_id), seq, commit, entry: JSON.parse(line) });
      });
    }
    return rows;
  });
}

/** The messages of a project in order of `seq`, which must be 1, 2, 3, ... without a gap. */
export async function messagesOf({ workspaceId, projectId }: Pick<Tenant, "workspaceId" | "projectId">) {
  const rows = (await storedEntries(workspaceId)).filter((row) => row.projectId === projectId);
  rows.sort((a, b) => a.seq - b.seq);
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1));
  return rows.map(({ entry }) => entry.message);
}

export const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ message: `m${from + i}` }));
