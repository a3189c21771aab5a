import { describe, expect, it } from "vitest";
import { AUDIT_ACTIONS } from "../../../src/workspace/audit-actions.ts";
import { type Action, isAudited, PERMISSIONS } from "../../../src/workspace/permissions.ts";

// SAFETY: the table is a literal, so it has exactly the keys of its type.
const ACTIONS = Object.keys(PERMISSIONS) as Action[];

/** Actions without a permission: of a new session, of an owner or invitee who is not a member yet, of the service, of an agent. */
const UNRESTRICTED = [
  "session.start",
  "workspace.create",
  "invitation.accept",
  "sandbox.reset",
  "agent.call",
  "grant.end",
];

describe("the permissions table", () => {
  it("B17: audits every action that changes the workspace, except its deletion", () => {
    const changing = ACTIONS.filter((action) => PERMISSIONS[action].invalidates === "workspace");
    expect(changing.filter((action) => !isAudited(action))).toEqual(["workspace.delete"]);
  });

  it("invalidates the caches after every audited action", () => {
    const audited = ACTIONS.filter(isAudited);
    expect(audited.length).toBeGreaterThan(10);
    expect(audited.filter((action) => PERMISSIONS[action].invalidates !== "workspace")).toEqual([]);
  });

  it("agrees with the documented list of audited actions", () => {
    expect([...AUDIT_ACTIONS].sort()).toEqual([...ACTIONS.filter(isAudited), ...UNRESTRICTED].sort());
  });

  it("changes nothing by an action that only reads", () => {
    const reads = ACTIONS.filter((action) => PERMISSIONS[action].invalidates === "nothing");
    expect(reads).toEqual([
      "logs.read",
      "project.list",
      "project.get",
      "key.list",
      "ledger.list",
      "view.list",
      "view.get",
      "board.list",
      "board.get",
      "destination.list",
      "destination.get",
      "destination.test",
      "notification.list",
      "alert.list",
      "alert.get",
      "alert.preview",
      "limits.get",
      "violations.list",
      "usage.get",
      "audit.list",
      "workspace.get",
      "grant.list",
      "member.list",
      "invitation.list",
    ]);
  });
});
