import { expect, vi } from "vitest";
import type { CheckedDecision } from "../../../scripts/alerts/check.ts";
import type { Group } from "../../../src/alerts/group.ts";
import { indexGroups, unpackGroup } from "../../../src/alerts/pack.ts";
import type { Answer, Call } from "../accounts/support.ts";
import { alarm, deployWith, waiting } from "../flush/support.ts";
import { addKey, onSql, type Tenant } from "../ingest/support.ts";
import { by, newUser, type User } from "../workspaces/support.ts";

export interface Watched extends Tenant {
  owner: User;
}

/** A workspace of a member who can sign in, with a project and a key. */
export async function newWatched(): Promise<Watched> {
  const owner = await newUser();
  const { workspaceId, userId: ownerId } = owner;
  const answer = await by(owner, "/projects", { body: { name: "shop" }, headers: { "X-Workspace-Id": workspaceId } });
  const projectId = String(Reflect.get(Object(answer.data), "id"));
  return { owner, workspaceId, ownerId, projectId, ...(await addKey({ workspaceId, ownerId, projectId })) };
}

export type Alert = Record<string, unknown> & { id: string; version: number };

/** @param path path below the alerts of the project, or another path of the project that begins with `alert-` */
export function ask({ owner, workspaceId, projectId }: Watched, path = "", options: Call = {}): Promise<Answer> {
  const below = path.startsWith("alert-") ? path : `alerts${path}`;
  return by(owner, `/projects/${projectId}/${below}`, { ...options, headers: { "X-Workspace-Id": workspaceId } });
}

export async function done<T = Alert>(watched: Watched, path = "", options: Call = {}): Promise<T> {
  const answer = await ask(watched, path, options);
  expect([path, answer.code, answer.details]).toEqual([path, null, []]);
  // SAFETY: tests check the members that they read.
  return answer.data as T;
}

export const errors = {
  name: "Errors",
  query: "level:>=error | count by service",
  condition: { kind: "threshold", value: 2 },
  window: "1m",
};

export const error = (service: string) => ({ level: "error", message: "m", service });

export interface Decided extends CheckedDecision {
  id: string;
  version: number;
  reported: boolean;
}

export async function decisionsOf(watched: Watched, id: string): Promise<Decided[]> {
  const page = await done<{ items: Decided[] }>(watched, `/${id}/decisions?limit=200`);
  return page.items.reverse();
}

/** Waits until a rule has made so many decisions. A step is made once a second. */
export async function decided(watched: Watched, id: string, count: number): Promise<Decided[]> {
  await vi.waitFor(async () => expect(await decisionsOf(watched, id)).toHaveLength(count), {
    timeout: 20_000,
    interval: 300,
  });
  return decisionsOf(watched, id);
}

/** Numbers of rows in the tables of alerts. */
export function rowsOf({ workspaceId }: Watched): Promise<Record<string, number>> {
  return onSql(workspaceId, (sql) => {
    const tables = ["rules", "versions", "runs", "positions", "buckets", "gaps", "decisions"];
    const count = (table: string) => Number(sql.exec(`SELECT COUNT(*) AS n FROM alert_${table}`).one().n);
    return Object.fromEntries(tables.map((table) => [table, count(table)]));
  });
}

/** The stored groups of a workspace's rules that count entries, in order of their keys. */
export function groupsOf({ workspaceId }: Watched): Promise<Group[]> {
  return onSql(workspaceId, (sql) => {
    const rows = sql.exec<{ groups: ArrayBuffer; startAt: number }>(
      "SELECT b.groups, n.start_at AS startAt FROM alert_buckets b JOIN alert_runs n ON n.num = b.run",
    );
    const groups = [...rows].flatMap((row) => {
      const bytes = new Uint8Array(row.groups);
      return [...indexGroups(bytes, null).values()].map((packed) => unpackGroup(bytes, packed, null, row.startAt));
    });
    return groups.sort((a, b) => (a.key < b.key ? -1 : 1));
  });
}

/** Moves all entries to the cold tier by the clock of the machine: rules decide as it passes. */
export async function flushNow({ workspaceId }: Watched): Promise<void> {
  await deployWith(workspaceId, { RECENT_MAX_AGE_SECONDS: 0 });
  await vi.waitFor(
    async () => {
      await alarm(workspaceId);
      expect((await waiting(workspaceId)).batches).toBe(0);
    },
    { timeout: 10_000, interval: 50 },
  );
  await deployWith(workspaceId, { RECENT_MAX_AGE_SECONDS: 3600 });
}
