import { type Account, readAccount, resolveRegistration } from "../../accounts/account.ts";
import {
  type DeletionPorts,
  finishDeletion,
  finishPurge,
  type PurgePorts,
  unfinishedDeletion,
  unfinishedPurge,
} from "../../accounts/deletion.ts";
import { isListed, unlistUser, workspacesOf } from "../../accounts/directory.ts";
import { deleteSubscription, endedSubscriptions } from "../../accounts/families.ts";
import type { Env } from "../../env.ts";
import type { Duty } from "../../platform/alarm.ts";
import type { Origin } from "../../platform/origin.ts";
import { callWorkspace } from "../../rpc/call.ts";
import type { UserCore } from "./core.ts";

/** Milliseconds until the alarm retries an unresolved registration, purge, deletion or notification. */
const RETRY_MS = { registration: 600_000, purge: 30_000, deletion: 30_000, subscriptions: 30_000 } as const;

/** The functions outside the user object that a purge requires: revocation of keys in workspace objects. */
export function purgePorts(env: Env, origin: Origin): PurgePorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    revokeKeys: (workspaceId, userId, until) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.revokeKeysOf(userId, until, origin)),
  };
}

/** The functions outside the user object that the deletion of an account requires. */
export function deletionPorts(env: Env, origin: Origin, destroySelf: () => Promise<void>): DeletionPorts {
  return {
    workspacesOf: (userId) => workspacesOf(env.DB, userId),
    removeDeletedUser: (workspaceId, userId) =>
      callWorkspace(env, workspaceId, "replay-safe", (stub) => stub.removeDeletedUser(userId, origin)),
    unlist: (userId, departed) => unlistUser(env.DB, userId, departed),
    destroySelf,
  };
}

/** Deletes what a deleted account has elsewhere, then the object. */
export class AccountDeletion implements Duty {
  readonly name = "deletion";
  readonly #core: UserCore;
  readonly #env: Env;

  constructor(core: UserCore, env: Env) {
    this.#core = core;
    this.#env = env;
  }

  get isUnfinished(): boolean {
    return this.#core.provisioned && unfinishedDeletion(this.#core.sql) !== null;
  }

  dueAt(now: number): number {
    return now + RETRY_MS.deletion;
  }

  async run(now: number, origin: Origin): Promise<void> {
    const core = this.#core;
    const { userId, requestId } = unfinishedDeletion(core.sql) ?? { userId: null, requestId: null };
    const cause = { ...origin, requestId: requestId ?? origin.requestId };
    // Before the first wait, so that a crash leaves an alarm.
    core.duties.arm(now);
    const event = "user.delete";
    try {
      const ports = deletionPorts(this.#env, cause, () => core.destroy());
      const isDone = await finishDeletion(core.sql, ports);
      core.line("info", cause, { event, outcome: isDone ? "ok" : "unfinished", userId });
    } catch (error) {
      const fault = error instanceof Error ? error.name : "unknown";
      core.line("error", cause, { event, outcome: "failed", userId, fault });
    }
  }
}

/** Resolves an interrupted registration: keeps the account if the directory lists it, deletes it otherwise. */
export class RegistrationResolution implements Duty {
  readonly name = "registration";
  readonly #core: UserCore;
  readonly #env: Env;
  /** When a failed attempt is repeated. */
  #retryAt: number | null = null;

  constructor(core: UserCore, env: Env) {
    this.#core = core;
    this.#env = env;
  }

  dueAt(): number | null {
    return this.#retryAt ?? readAccount(this.#core.sql)?.resolveAt ?? null;
  }

  async run(_now: number, origin: Origin): Promise<void> {
    const core = this.#core;
    const userId = readAccount(core.sql)?.id ?? null;
    const ports = {
      isListed: (id: string) => isListed(this.#env.DB, id),
      destroyWorkspace: (id: string) => callWorkspace(this.#env, id, "replay-safe", (stub) => stub.destroy(origin)),
      destroySelf: () => core.destroy(),
      now: () => Date.now(),
    };
    const event = "user.registration.settle";
    this.#retryAt = null;
    try {
      const outcome = await resolveRegistration(core.sql, ports);
      if (outcome !== null) core.line("info", origin, { event, outcome, userId });
    } catch (error) {
      this.#retryAt = Date.now() + RETRY_MS.registration;
      core.failed(event, error, origin);
    }
  }
}

/** Finishes a purge in the workspace objects. */
export class Purge implements Duty {
  readonly name = "purge";
  readonly #core: UserCore;
  readonly #env: Env;

  constructor(core: UserCore, env: Env) {
    this.#core = core;
    this.#env = env;
  }

  get isUnfinished(): boolean {
    return unfinishedPurge(this.#core.sql) !== null;
  }

  dueAt(now: number): number | null {
    return this.isUnfinished ? now + RETRY_MS.purge : null;
  }

  async run(_now: number, origin: Origin): Promise<void> {
    if (this.isUnfinished) await this.finish(origin);
  }

  /** Returns `false` if a workspace did not answer; the alarm then retries. */
  async finish(origin: Origin): Promise<boolean> {
    try {
      await finishPurge(this.#core.sql, purgePorts(this.#env, origin));
      return true;
    } catch (error) {
      this.#core.failed("user.purge", error, origin);
      return false;
    }
  }
}

/** Notifies subscribed workspaces of ended sessions. */
export class SessionEnds implements Duty {
  readonly name = "session subscriptions";
  readonly #core: UserCore;
  readonly #env: Env;

  constructor(core: UserCore, env: Env) {
    this.#core = core;
    this.#env = env;
  }

  dueAt(now: number): number | null {
    const account = readAccount(this.#core.sql);
    const waits = account !== null && endedSubscriptions(this.#core.sql, account.epoch, now).length > 0;
    return waits ? now + RETRY_MS.subscriptions : null;
  }

  run(now: number, origin: Origin): void {
    const account = readAccount(this.#core.sql);
    if (account) this.notify(account, now, origin);
  }

  /**
   * Does not wait for the workspaces: neither a request nor the alarm may depend on them.
   * @returns whether a session with a subscription has ended
   */
  notify({ epoch }: Account, now: number, origin: Origin): boolean {
    const { sql } = this.#core;
    const ended = endedSubscriptions(sql, epoch, now);
    for (const subscription of ended) {
      const { sessionId, workspaceId } = subscription;
      callWorkspace(this.#env, workspaceId, "replay-safe", (stub) => stub.sessionEnded(sessionId))
        .then(() => {
          // The account may have been deleted in the meantime, and its tables with it.
          if (this.#core.provisioned) deleteSubscription(sql, subscription);
        })
        .catch((error: unknown) => this.#core.failed("user.session.watch", error, origin));
    }
    return ended.length > 0;
  }
}
