import {
  changeDestination,
  confirmAgain,
  createDestination,
  getDestination,
  listDestinations,
  rotateSecret,
} from "../../alerts/notifications/destinations.ts";
import { listNotifications, redeliver } from "../../alerts/notifications/history.ts";
import { beginTest } from "../../alerts/notifications/targets.ts";
import { changeKey, createKey, getKeys, getWorkspaceKeys, removeKey, rotateKey } from "../../keys/actions.ts";
import { COUNTED } from "../../limits/state.ts";
import { OutdatedObject } from "../../rpc/call.ts";
import type { Implementations, Management, ManagementCall, ManagementMethod } from "../../rpc/management.ts";
import { fail, ok, type Result, type Success } from "../../rpc/result.ts";
import { listAudit } from "../../workspace/audit.ts";
import { createFirstBoard } from "../../workspace/boards.ts";
import { markRenamed } from "../../workspace/directory-changes.ts";
import { invite, listInvitations, revokeInvitation } from "../../workspace/invitations.ts";
import { writeFrequent } from "../../workspace/ledger.ts";
import { readLedger } from "../../workspace/ledger-page.ts";
import { liveCounters } from "../../workspace/live-counters.ts";
import { listMembers } from "../../workspace/members.ts";
import { changeRole, removeMember } from "../../workspace/membership.ts";
import {
  createProject,
  deleteProject,
  hasRoomForProject,
  listProjects,
  MAX_PROJECTS,
  renameProject,
} from "../../workspace/projects.ts";
import { deleteWorkspace } from "../../workspace/provision.ts";
import { changeSaved, createSaved, deleteSaved, getSaved, listSaved } from "../../workspace/saved-items.ts";
import {
  changedSettings,
  changeSettings,
  limitsInAudit,
  readWorkspace,
  writeLimits,
} from "../../workspace/settings.ts";
import { readUsage } from "../../workspace/usage.ts";
import { alertMethods } from "./alert-management.ts";
import type { WorkspaceCore } from "./core.ts";
import { grantManagement } from "./grants.ts";
import { readWorkspaceInfo } from "./invitations.ts";

/** The methods of `Management` in a workspace object. */
export type Implementation = Implementations<ManagementMethod>;

/** The limit of a result, for another result of the same call. */
function limitOf({ limit }: Pick<Success<unknown>, "limit">): Pick<Success<unknown>, "limit"> {
  return limit === undefined ? {} : { limit };
}

/** Runs what members ask of a workspace object. */
export class MemberManagement {
  readonly #methods: Implementation;

  /** @param pepper the secret that invitation tokens derive from */
  constructor(core: WorkspaceCore, pepper: string) {
    this.#methods = managementOf(core, pepper);
  }

  /** @throws OutdatedObject if this version does not have the method */
  run<M extends ManagementMethod>({
    method,
    args,
    ...by
  }: ManagementCall<M>): Promise<Result<ReturnType<Management[M]>>> {
    if (!Object.hasOwn(this.#methods, method)) throw new OutdatedObject();
    return this.#methods[method](by, ...args);
  }
}

/**
 * What members do in a workspace object: projects, keys, limits, settings, members and invitations. Each method admits the
 * member, counts the request and does its work in one transaction.
 */
function managementOf(core: WorkspaceCore, pepper: string): Implementation {
  return {
    createProject: (by, name) =>
      core.as(by, "project.create", null, ({ sql }, _role, _id, note) => {
        if (!hasRoomForProject(sql)) return fail("CONFLICT", `A workspace has at most ${MAX_PROJECTS} projects.`);
        const project = createProject(sql, name, Date.now());
        createFirstBoard(sql, project, by.caller.userId, Date.now());
        note(project.id, { after: { name } });
        return ok(project);
      }),

    listProjects: (by, cursor, limit) =>
      core.as(by, "project.list", null, ({ sql }) => ok(listProjects(sql, cursor, limit))),

    getProject: (by, projectId) => core.as(by, "project.get", projectId, (_, project) => ok(project)),

    renameProject: (by, projectId, name) =>
      core.as(by, "project.rename", projectId, ({ sql }, project, _id, note) => {
        if (project.name === name) return ok(project);
        renameProject(sql, project.num, name);
        note(projectId, { before: { name: project.name }, after: { name } });
        return ok({ ...project, name });
      }),

    deleteProject: (by, projectId) =>
      core.as(by, "project.delete", projectId, ({ sql }, project, _id, note) => {
        deleteProject(sql, project.num, Date.now());
        note(projectId, { before: { name: project.name } });
        return ok(true);
      }),

    createKey: (by, projectId, request) =>
      core.as(by, "key.create", projectId, ({ sql }, project, workspaceId, note) =>
        ok(createKey(sql, workspaceId, project, by.caller.userId, request, note, Date.now())),
      ),

    listKeys: (by, projectId, cursor, limit) =>
      core.as(by, "key.list", projectId, ({ sql }, { num }) => ok(getKeys(sql, num, cursor, limit))),

    listWorkspaceKeys: (by, filter, cursor, limit) =>
      core.as(by, "key.list", null, ({ sql }) => ok(getWorkspaceKeys(sql, filter, cursor, limit, Date.now()))),

    changeKey: (by, projectId, ...args) =>
      core.as(by, "key.update", projectId, ({ sql }, { num }, _id, note) => ok(changeKey(sql, num, ...args, note))),

    rotateKey: (by, projectId, keyId, overlapSeconds) =>
      core.as(by, "key.rotate", projectId, ({ sql }, { num }, workspaceId, note) =>
        ok(rotateKey(sql, workspaceId, num, by.caller.userId, keyId, overlapSeconds, note, Date.now())),
      ),

    revokeKey: (by, projectId, keyId) =>
      core.as(by, "key.revoke", projectId, ({ sql }, { num }, _id, note) =>
        ok(removeKey(sql, num, keyId, note, Date.now())),
      ),

    ledger: (by, projectId, span, cursor, limit) =>
      core.as(by, "ledger.list", projectId, ({ sql, frequent }, { num }) => {
        writeFrequent(sql, frequent, Date.now());
        return ok(readLedger(sql, num, span, cursor, limit));
      }),

    listSaved: (by, kind, cursor, limit) =>
      core.as(by, `${kind}.list`, null, ({ sql }) => ok(listSaved(sql, kind, cursor, limit))),

    getSaved: (by, kind, id) => core.as(by, `${kind}.get`, null, ({ sql }) => getSaved(sql, kind, id)),

    createSaved: (by, kind, item) =>
      core.as(by, `${kind}.create`, null, ({ sql }, _role, _id, note) =>
        createSaved(sql, kind, item, by.caller.userId, note, Date.now()),
      ),

    changeSaved: (by, kind, id, change, version) =>
      core.as(by, `${kind}.update`, null, ({ sql }, _role, _id, note) =>
        changeSaved(sql, kind, id, change, version, note, Date.now()),
      ),

    deleteSaved: (by, kind, id) =>
      core.as(by, `${kind}.delete`, null, ({ sql }, _role, _id, note) => deleteSaved(sql, kind, id, note)),

    listDestinations: (by, cursor, limit) =>
      core.as(by, "destination.list", null, ({ sql }) => ok(listDestinations(sql, cursor, limit))),

    getDestination: (by, id) => core.as(by, "destination.get", null, ({ sql }) => getDestination(sql, id)),

    createDestination: (by, destination) =>
      core.as(by, "destination.create", null, ({ sql }, _role, workspaceId, note) => {
        const issuer = { userId: by.caller.userId, workspaceId, pepper, requestId: by.origin.requestId };
        return createDestination(sql, destination, issuer, note, Date.now());
      }),

    confirmDestination: (by, id, confirmation) =>
      core.as(by, "destination.update", null, ({ sql }, _role, workspaceId) => {
        const issuer = { workspaceId, pepper, requestId: by.origin.requestId };
        return confirmAgain(sql, id, confirmation, issuer, Date.now());
      }),

    changeDestination: (by, id, change, version) =>
      core.as(by, "destination.update", null, ({ sql }, _role, _id, note) =>
        changeDestination(sql, id, change, version, note, Date.now()),
      ),

    rotateDestination: (by, id, overlapSeconds) =>
      core.as(by, "destination.rotate", null, ({ sql }, _role, _id, note) =>
        rotateSecret(sql, id, overlapSeconds, note, Date.now()),
      ),

    testDestination: async (by, id) => {
      const begun = await core.as(by, "destination.test", null, ({ sql }) => beginTest(sql, id, Date.now()));
      if (!begun.ok) return begun;
      return { ...ok(await core.deliveries.test(begun.value, by.origin)), ...limitOf(begun) };
    },

    listNotifications: (by, filter, before, limit) =>
      core.as(by, "notification.list", null, ({ sql }) => ok(listNotifications(sql, filter, before, limit))),

    redeliver: (by, id) =>
      core.as(by, "delivery.redeliver", null, ({ sql }, _role, _id, note) => redeliver(sql, id, note, Date.now())),

    ...alertMethods(core),

    ...grantManagement(core),

    rateLimits: (by) =>
      core.as(by, "limits.get", null, (admission) =>
        ok({ limits: admission.limits.configuration, live: liveCounters(admission, Date.now()) }),
      ),

    setLimits: (by, limits) =>
      core.as(by, "limits.set", null, ({ sql, limits: { configuration } }, _role, id, note) => {
        const [before, after] = [limitsInAudit(configuration), limitsInAudit(limits)];
        if (JSON.stringify(configuration) !== JSON.stringify(limits)) note(id, { before, after });
        writeLimits(sql, limits);
        return ok(true);
      }),

    getWorkspaceInfo: (by) => readWorkspaceInfo(core, by),

    changeSettings: async (by, change) => {
      const changed = await core.as(by, "workspace.update", null, ({ sql }, _role, id, note) => {
        const { before, after } = changedSettings(readWorkspace(sql), change);
        if (Object.keys(after).length > 0) note(id, { before: { ...before }, after: { ...after } });
        changeSettings(sql, change);
        if (change.name !== undefined) markRenamed(sql);
        return ok(true);
      });
      if (!changed.ok) return changed;
      return { ...(await readWorkspaceInfo(core, { ...by, charge: COUNTED })), ...limitOf(changed) };
    },

    deleteWorkspace: (by) =>
      core.as(by, "workspace.delete", null, ({ sql }) => deleteWorkspace(sql, by.origin, Date.now())),

    audit: (by, filter, before, limit) =>
      core.as(by, "audit.list", null, ({ sql }) => ok(listAudit(sql, filter, before, limit, Date.now()))),

    usage: (by) => core.as(by, "usage.get", null, ({ sql }) => ok(readUsage(sql, Date.now()))),

    listMembers: (by, cursor, limit) =>
      core.as(by, "member.list", null, ({ sql }) => ok(listMembers(sql, cursor, limit))),

    changeRole: (by, memberId, role) =>
      core.as(by, "member.change", null, ({ sql }, own, _id, note) =>
        changeRole(sql, own, memberId, role, note, Date.now()),
      ),

    removeMember: (by, memberId) =>
      core.as(by, by.caller.userId === memberId ? "member.leave" : "member.remove", null, ({ sql }, own, _id, note) =>
        removeMember(sql, own, memberId, note, Date.now()),
      ),

    invite: (by, request) =>
      core.as(by, "invitation.create", null, ({ sql }, own, workspaceId, note) => {
        const inviter = { by: own, userId: by.caller.userId, workspaceId, pepper, requestId: by.origin.requestId };
        return invite(sql, inviter, request, note, Date.now());
      }),

    listInvitations: (by, cursor, limit) =>
      core.as(by, "invitation.list", null, ({ sql }) => ok(listInvitations(sql, cursor, limit, Date.now()))),

    revokeInvitation: (by, id) =>
      core.as(by, "invitation.revoke", null, ({ sql }, own, _id, note) =>
        revokeInvitation(sql, own, id, note, Date.now()),
      ),
  };
}
