import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { readAccount } from "../../src/accounts/account.ts";
import type { Env } from "../../src/env.ts";
import { newId } from "../../src/ids.ts";
import { API_DEFAULT } from "../../src/limits/state.ts";
import { addPendingMail } from "../../src/mail/pending-mails.ts";
import { UserCore } from "../../src/objects/user/core.ts";
import { WorkspaceCore } from "../../src/objects/workspace/core.ts";
import { workspaceDuties } from "../../src/objects/workspace/duties.ts";
import type { Duties, Duty } from "../../src/platform/alarm.ts";
import { newAlarmOrigin } from "../../src/platform/origin.ts";
import { recordAudit } from "../../src/workspace/audit.ts";
import { markRenamed } from "../../src/workspace/directory-changes.ts";
import { markWorkspaceDeleted } from "../../src/workspace/provision.ts";
import { emailStub, requestsAnswered } from "./accounts/mail-support.ts";
import { call, userStub, workspaceStub } from "./accounts/support.ts";
import { newUser, newWorkspace } from "./workspaces/support.ts";

/** Ahead of the machine's clock, so that no alarm runs unless the test runs it. */
const START = Math.floor(Date.now() / 1000) * 1000 + 10 * 24 * 3_600_000;
const origin = newAlarmOrigin();

beforeEach(() => vi.useFakeTimers({ toFake: ["Date"], now: START }));
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Bindings of which D1 fails and the queues lose every message. */
function withoutD1(): Env {
  const fails = { prepare: () => failure(), batch: () => failure() };
  const queue = { send: async () => {}, sendBatch: async () => {} };
  return { ...env, DB: fails, COLD_DB: fails, MAIL_QUEUE: queue, VIOLATION_QUEUE: queue } as never;
}

function failure(): never {
  throw new Error("no D1");
}

function addDueMail(sql: SqlStorage): void {
  const content = { kind: "notice", notice: "session-ended" } as const;
  const mail = { id: newId("mail"), to: "a@example.com", content, expiresAt: Date.now() + 3_600_000 };
  sql.exec("DELETE FROM promised_mails");
  addPendingMail(sql, mail, Date.now());
}

const enqueuedOf = (sql: SqlStorage) => Number(sql.exec("SELECT SUM(handed_over) AS n FROM promised_mails").one().n);
const count = (sql: SqlStorage, table: string) => Number(sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n);

/** Counts how often objects read and write their alarm from now on. */
function spyOnAlarm(storage: DurableObjectStorage): () => { reads: number; writes: number } {
  // SAFETY: the prototype has the methods of every storage.
  const methods = Object.getPrototypeOf(storage) as DurableObjectStorage;
  const [reads, writes] = [vi.spyOn(methods, "getAlarm"), vi.spyOn(methods, "setAlarm")];
  return () => ({ reads: reads.mock.calls.length, writes: writes.mock.calls.length });
}

/** Sets the alarm of an object with a due mail, evicts the object, and expects that the alarm does its duty. */
async function setByOlderVersion(stub: Parameters<typeof evictDurableObject>[0]): Promise<void> {
  // SAFETY: as above.
  const queue = Object.getPrototypeOf(env.MAIL_QUEUE) as typeof env.MAIL_QUEUE;
  const sent = vi.spyOn(queue, "sendBatch").mockImplementation(() => Promise.reject(new Error("no queue")));
  await runInDurableObject(stub, (_, { storage }) => {
    addDueMail(storage.sql);
    storage.setAlarm(START + 3_600_000);
  });
  await evictDurableObject(stub);
  expect(await runDurableObjectAlarm(stub)).toBe(true);
  expect(sent).toHaveBeenCalledTimes(1);
  await runInDurableObject(stub, async (_, { storage }) => {
    expect([enqueuedOf(storage.sql), await storage.getAlarm()]).toEqual([1, START + 30_000]);
  });
}

interface WorkspaceSetup {
  core: WorkspaceCore;
  duties: Duties;
  /** Duties that ran after those of the core. */
  ran: string[];
  sql: SqlStorage;
  alarmAt: () => Promise<number | null>;
}

/** Runs a test in the object of a new workspace, with a separate core, for which D1 fails. */
async function inWorkspace(run: (setup: WorkspaceSetup) => Promise<void>): Promise<void> {
  const workspaceId = await newWorkspace(await newUser());
  await runInDurableObject(workspaceStub(workspaceId), async (_, state) => {
    const core = new WorkspaceCore(state, withoutD1());
    const ran: string[] = [];
    const last = (name: string): Duty => ({ name, dueAt: () => null, run: () => void ran.push(name) });
    const duties = workspaceDuties(core, last("sandbox"), last("tails"));
    await state.storage.deleteAlarm();
    await run({ core, duties, ran, sql: state.storage.sql, alarmAt: () => state.storage.getAlarm() });
  });
}

interface UserSetup {
  userId: string;
  core: UserCore;
  newCore: () => UserCore;
  sql: SqlStorage;
  storage: DurableObjectStorage;
}

/** Runs a test in the object of a new account, with a separate core, for which D1 fails. */
async function inUser(run: (setup: UserSetup) => Promise<void>): Promise<void> {
  const { userId } = await newUser();
  await runInDurableObject(userStub(userId), async (_, state) => {
    await state.storage.deleteAlarm();
    state.storage.sql.exec("DELETE FROM promised_mails");
    const newCore = () => new UserCore(state, withoutD1());
    await run({ userId, core: newCore(), newCore, sql: state.storage.sql, storage: state.storage });
  });
}

describe("the alarm of a workspace object", () => {
  it("runs its duties in the order that docs/development.md gives", () =>
    inWorkspace(async ({ duties }) => {
      expect(duties.names).toEqual([
        "deletion",
        "violations",
        "housekeeping",
        "mails",
        "alerts",
        "deliveries",
        "directory changes",
        "creation",
        "directory repair",
        "flush",
        "compaction",
        "cleanup",
        "sandbox",
        "tails",
      ]);
    }));

  it("of a deleted workspace only continues the deletion, and repeats it after 30 s", () =>
    inWorkspace(async ({ core, duties, ran, sql, alarmAt }) => {
      addDueMail(sql);
      markRenamed(sql);
      markWorkspaceDeleted(sql, origin, Date.now());
      core.state.forget();
      await duties.fire(origin);
      expect([ran, enqueuedOf(sql), await alarmAt()]).toEqual([[], 0, START + 30_000]);
    }));

  it("skips housekeeping if it fired for violations and the hour is not over", () =>
    inWorkspace(async ({ core, duties, sql }) => {
      await duties.fire(origin);
      const entry = { actor: "system", action: "key.revoke", target: "usr_000000000000" } as const;
      sql.exec("UPDATE audit SET at = 0");
      recordAudit(sql, entry, origin, START);
      const items = count(sql, "audit");
      core.state.transaction(({ violations }) =>
        violations.recordRefusal({ identifier: "key:a", rule: "default", limit: 1, windowSeconds: 60 }, START),
      );
      vi.setSystemTime(START + 2000);
      await duties.fire(origin);
      expect([count(sql, "audit"), count(sql, "violations")]).toEqual([items, 1]);
      // An alarm for another duty.
      vi.setSystemTime(START + 3000);
      await duties.fire(origin);
      expect(count(sql, "audit")).toBe(1);
    }));

  it("repeats what D1 did not take after 30 s", () =>
    inWorkspace(async ({ duties, sql, alarmAt }) => {
      markRenamed(sql);
      await duties.fire(origin);
      expect([count(sql, "index_changes"), await alarmAt()]).toEqual([1, START + 30_000]);
      vi.setSystemTime(START + 30_000);
      await duties.fire(origin);
      expect(await alarmAt()).toBe(START + 60_000);
    }));

  it("repeats the resolution of a creation 30 s after a failure", () =>
    inWorkspace(async ({ core, duties, sql, alarmAt }) => {
      sql.exec("DELETE FROM index_changes");
      sql.exec("UPDATE workspace SET slug = NULL, settle_at = ?", START + 300_000);
      core.state.forget();
      await duties.fire(origin);
      expect(await alarmAt()).toBe(START + 30_000);
    }));

  it("runs every duty although one of them throws", () =>
    inWorkspace(async ({ core, duties, ran, sql, alarmAt }) => {
      sql.exec("ALTER TABLE audit RENAME TO audit_gone");
      addDueMail(sql);
      await duties.fire(origin);
      sql.exec("ALTER TABLE audit_gone RENAME TO audit");
      expect([ran, enqueuedOf(sql)]).toEqual([["sandbox", "tails"], 1]);
      expect(await alarmAt()).toBe(START + 30_000);
      expect(core.state.row).not.toBeNull();
    }));

  it("that the version before has set does the duties of this version", async () => {
    await setByOlderVersion(workspaceStub(await newWorkspace(await newUser())));
  });
});

describe("the alarm of a user object", () => {
  it("runs its duties in the order that docs/development.md gives", () =>
    inUser(async ({ core }) => {
      expect(core.duties.names).toEqual([
        "deletion",
        "registration",
        "limits",
        "purge",
        "violations",
        "mails",
        "session subscriptions",
      ]);
    }));

  it("of a deleted account only continues the deletion, and repeats it after 30 s", () =>
    inUser(async ({ core, sql, storage }) => {
      addDueMail(sql);
      sql.exec("INSERT INTO deletion (one, user_id, workspace_id) SELECT 1, id, workspace_id FROM account");
      sql.exec("DELETE FROM account");
      await core.alarm();
      expect([enqueuedOf(sql), await storage.getAlarm()]).toEqual([0, START + 30_000]);
    }));

  it("of an unconfirmed account is set for its resolution and for nothing else", () =>
    inUser(async ({ core, sql, storage }) => {
      addDueMail(sql);
      sql.exec("UPDATE account SET confirmed = 0, settle_at = ?", START + 300_000);
      core.change(origin, () => {});
      expect([enqueuedOf(sql), await storage.getAlarm()]).toEqual([0, START + 300_000]);
      await core.alarm();
      expect([enqueuedOf(sql), await storage.getAlarm()]).toEqual([0, START + 600_000]);
      expect(readAccount(sql)).toMatchObject({ confirmed: false });
    }));

  it("repeats a purge after 30 s", () =>
    inUser(async ({ core, sql, storage }) => {
      sql.exec("INSERT INTO unfinished_purge (one, until) VALUES (1, ?)", START);
      await core.alarm();
      expect([count(sql, "unfinished_purge"), await storage.getAlarm()]).toEqual([1, START + 30_000]);
    }));

  it("repeats the notification of a session's end after 30 s", () =>
    inUser(async ({ core, sql, storage }) => {
      sql.exec("INSERT INTO session_watches (session, workspace) VALUES ('fam_gone', 'ws_gone')");
      await core.alarm();
      expect(await storage.getAlarm()).toBe(START + 30_000);
    }));

  it("is not read when the object starts, and is written once for many requests", () =>
    inUser(async ({ newCore, sql, storage, userId }) => {
      sql.exec("DELETE FROM rate_seconds");
      const calls = spyOnAlarm(storage);
      const core = newCore();
      for (let i = 0; i < API_DEFAULT.limit; i++) core.count(userId, undefined, START + i);
      expect(calls()).toEqual({ reads: 0, writes: 1 });
      // The first refusal sets the alarm for the violations, the others do not.
      for (let i = 0; i < 50; i++) core.count(userId, undefined, START + API_DEFAULT.limit + i);
      expect(calls()).toEqual({ reads: 0, writes: 2 });
    }));

  it("that the version before has set does the duties of this version", async () => {
    await setByOlderVersion(userStub((await newUser()).userId));
  });
});

describe("the alarm of an address object", () => {
  it("is not read when the object starts, and is written once for many requests", async () => {
    const stub = env.ADDRESSES.get(env.ADDRESSES.idFromName(`ip:${crypto.randomUUID()}`));
    const calls = await runInDurableObject(stub, (_, { storage }) => spyOnAlarm(storage));
    const request = { identifier: "ip", cost: 1, limit: 5, windowSeconds: 60 };
    for (let i = 0; i < 5; i++) await stub.check(request, "AUTH");
    expect(calls()).toEqual({ reads: 0, writes: 1 });
    for (let i = 0; i < 20; i++) await stub.check(request, "AUTH");
    expect(calls()).toEqual({ reads: 0, writes: 2 });
  });

  it("that the version before has set does the duties of this version", async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    expect((await call("/auth/magic-link", { body: { email } })).status).toBe(200);
    await requestsAnswered(email);
    await setByOlderVersion(emailStub(email));
  });
});
