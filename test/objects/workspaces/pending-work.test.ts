import { env, runInDurableObject } from "cloudflare:test";
import { describe, expect, it } from "vitest";
import { newId } from "../../../src/ids.ts";
import { COUNTED } from "../../../src/limits/state.ts";
import { addPendingMail } from "../../../src/mail/pending-mails.ts";
import { WorkspaceCore } from "../../../src/objects/workspace/core.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import type { MemberCall } from "../../../src/rpc/management.ts";
import { fail, ok } from "../../../src/rpc/result.ts";
import { markRenamed } from "../../../src/workspace/directory-changes.ts";
import { createProject, deleteProject } from "../../../src/workspace/projects.ts";
import { deleteWorkspace } from "../../../src/workspace/provision.ts";
import { workspaceStub } from "../accounts/support.ts";
import { newUser, newWorkspace, type User } from "./support.ts";

interface Setup {
  owner: User;
  core: WorkspaceCore;
  storage: DurableObjectStorage;
}

/** Runs a test in the object of a new workspace, with a core that no RPC method of the object uses. */
async function inNewWorkspace<T>(run: (setup: Setup) => Promise<T>): Promise<T> {
  const owner = await newUser();
  const workspaceId = await newWorkspace(owner);
  return runInDurableObject(workspaceStub(workspaceId), (_, state) =>
    run({ owner, core: new WorkspaceCore(state, { ...env }), storage: state.storage }),
  );
}

/** A call by a user whose request has been counted. */
function by({ userId }: User): MemberCall {
  return { caller: { kind: "user", userId }, charge: COUNTED, origin: newAlarmOrigin() };
}

function addDueMail(sql: SqlStorage): void {
  const now = Date.now();
  const content = { kind: "notice", notice: "session-ended" } as const;
  addPendingMail(sql, { id: newId("mail"), to: "a@example.com", content, expiresAt: now + 60_000 }, now);
}

const enqueuedOf = (sql: SqlStorage) => Number(sql.exec("SELECT SUM(handed_over) AS n FROM promised_mails").one().n);
const changesOf = (sql: SqlStorage) => sql.exec("SELECT 1 FROM index_changes").toArray().length;

describe("a change of a member does its pending work", () => {
  it("sends mails that are due", () =>
    inNewWorkspace(async ({ owner, core, storage: { sql } }) => {
      addDueMail(sql);
      await core.as(by(owner), "project.list", null, () => ok(null));
      expect(enqueuedOf(sql)).toBe(0);
      await core.as(by(owner), "project.create", null, () => ok(null));
      expect(enqueuedOf(sql)).toBe(1);
    }));

  it("does nothing, and keeps its caches, if a rule refuses the change", () =>
    inNewWorkspace(async ({ owner, core, storage: { sql } }) => {
      addDueMail(sql);
      let invalidated = 0;
      core.state.onChange = () => invalidated++;
      const refused = await core.as(by(owner), "project.create", null, () => fail("CONFLICT", "Too many."));
      expect([refused.ok, enqueuedOf(sql), invalidated]).toEqual([false, 0, 0]);
      await core.as(by(owner), "project.create", null, () => ok(null));
      expect([enqueuedOf(sql), invalidated]).toEqual([1, 1]);
    }));

  it("writes directory changes to D1 before its answer", () =>
    inNewWorkspace(async ({ owner, core, storage: { sql } }) => {
      await core.as(by(owner), "workspace.update", null, (admission) => ok(markRenamed(admission.sql)));
      expect(changesOf(sql)).toBe(0);
    }));

  it("does not wait for D1 if it concerns nothing in the directory", () =>
    inNewWorkspace(async ({ owner, core, storage: { sql } }) => {
      markRenamed(sql);
      await core.as(by(owner), "project.create", null, () => ok(null));
      expect(changesOf(sql)).toBe(1);
    }));

  it("starts to delete the batches of a deleted project", () =>
    inNewWorkspace(async ({ owner, core, storage }) => {
      const { num } = createProject(storage.sql, "p", Date.now());
      await storage.deleteAlarm();
      core.state.alarm.forget();
      await core.as(by(owner), "project.delete", null, ({ sql }) => ok(deleteProject(sql, num, Date.now())));
      expect((await storage.getAlarm()) ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(Date.now());
    }));

  it("deletes a deleted workspace", () =>
    inNewWorkspace(async ({ owner, core, storage }) => {
      const origin = newAlarmOrigin();
      await core.as(by(owner), "workspace.delete", null, ({ sql }) => deleteWorkspace(sql, origin, Date.now()));
      expect(storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'workspace'").toArray()).toEqual([]);
    }));
});
