import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { USER_SCHEMA } from "../../../src/accounts/schema.ts";
import { USER_QUOTA_SCHEMA } from "../../../src/accounts/user-quotas.ts";
import { migrate } from "../../../src/platform/sql.ts";
import { bearer, call, callWith, dump, userStub } from "../accounts/support.ts";
import {
  accept,
  addMember,
  by,
  forgetMails,
  invitationOf,
  invitationToken,
  invite,
  join,
  newUser,
  newWorkspace,
  remove,
  setRole,
  type User,
} from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const DAY_MS = 24 * 60 * 60 * 1000;
const address = (): string => `${crypto.randomUUID()}@example.com`;

async function madeBy({ userId }: User): Promise<number> {
  return runInDurableObject(userStub(userId), (_, { storage }) =>
    Number(storage.sql.exec("SELECT COUNT(*) AS n FROM made_invitations").one().n),
  );
}

describe("B9: invitations of one account", () => {
  it("B9: are at most 20 in any 24 hours over all workspaces, sent in parallel or one by one, through an eviction", async () => {
    const owner = await newUser();
    const ids = await Promise.all(["A", "B", "C"].map((name) => newWorkspace(owner, name)));
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, i) => invite(owner, ids[i % 3] ?? "", address(), "viewer")),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
    const refused = answers.filter(({ status }) => status !== 201);
    expect(new Set(refused.map(({ status, code }) => `${status} ${code}`))).toEqual(new Set(["429 RATE_LIMITED"]));
    for (const { headers, details } of refused) {
      expect(Number(headers.get("Retry-After"))).toBeGreaterThan(86_000);
      expect(details).toMatchObject([{ message: "At most 20 invitations in 24 hours by this user." }]);
    }
    await evictDurableObject(userStub(owner.userId));
    const fresh = await newWorkspace(owner, "D");
    expect((await invite(owner, fresh, address(), "viewer")).status).toBe(429);
    // The window slides: when the first invitation leaves it, exactly one more is admitted.
    await runInDurableObject(userStub(owner.userId), (_, { storage }) => {
      const first = "(SELECT id FROM made_invitations ORDER BY made_at, id LIMIT 1)";
      storage.sql.exec(`UPDATE made_invitations SET made_at = ? WHERE id = ${first}`, Date.now() - DAY_MS + 60_000);
    });
    const almost = await invite(owner, fresh, address(), "viewer");
    expect(almost.status).toBe(429);
    expect(Number(almost.headers.get("Retry-After"))).toBeLessThanOrEqual(60);
    await runInDurableObject(userStub(owner.userId), (_, { storage }) => {
      const first = "(SELECT id FROM made_invitations ORDER BY made_at, id LIMIT 1)";
      storage.sql.exec(`UPDATE made_invitations SET made_at = ? WHERE id = ${first}`, Date.now() - DAY_MS);
    });
    expect((await invite(owner, fresh, address(), "viewer")).status).toBe(201);
    expect((await invite(owner, fresh, address(), "viewer")).status).toBe(429);
  });

  it("B9: are at most 20 in any 24 hours of one workspace, for all inviters together", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const admin = await newUser();
    await addMember(id, admin, "admin");
    for (let i = 0; i < 10; i++) {
      invitationOf(await invite(owner, id, address(), "viewer"));
      invitationOf(await invite(admin, id, address(), "viewer"));
    }
    const refused = await invite(admin, id, address(), "viewer");
    expect([refused.status, refused.code]).toEqual([429, "RATE_LIMITED"]);
    expect(Number(refused.headers.get("Retry-After"))).toBeGreaterThan(86_000);
    // An invitation that the workspace refused does not count against the account.
    expect(await madeBy(admin)).toBe(10);
    expect((await invite(admin, admin.workspaceId, address(), "viewer")).status).toBe(201);
  });

  it("B9: that the workspace refuses do not count", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    expect((await invite(owner, id, owner.email, "viewer")).code).toBe("CONFLICT");
    expect(await madeBy(owner)).toBe(0);
  });
});

describe("B9: workspaces of one account", () => {
  async function create(user: User, settings: object = {}) {
    return callWith(settings, "/workspaces", { headers: bearer(user.accessToken), body: { name: "Team" } });
  }

  it("B9: are at most 10 beside the personal one, also for 14 concurrent requests", async () => {
    const owner = await newUser();
    const answers = await Promise.all(Array.from({ length: 14 }, () => create(owner)));
    const codes = answers.map(({ status, code }) => `${status} ${code}`);
    expect(codes.filter((code) => code === "201 null")).toHaveLength(10);
    expect(codes.filter((code) => code === "409 CONFLICT")).toHaveLength(4);
    expect((await create(owner)).code).toBe("CONFLICT");
    // The operator's setting raises the limit.
    expect((await create(owner, { MAX_OWNED_WORKSPACES: "11" })).status).toBe(201);
    expect((await create(owner, { MAX_OWNED_WORKSPACES: "11" })).code).toBe("CONFLICT");
    // A deleted workspace frees its place, and workspaces of other owners take none.
    const { items } = (await by(owner, "/workspaces")).data as { items: { id: string; personal: boolean }[] };
    const shared = items.filter(({ personal }) => !personal).map(({ id }) => id);
    for (const id of shared.slice(0, 2))
      expect((await by(owner, `/workspaces/${id}`, { method: "DELETE" })).status).toBe(200);
    const other = await newUser();
    const foreign = await newWorkspace(other);
    await join(other, foreign, owner, "admin");
    expect((await create(owner)).status).toBe(201);
    expect((await create(owner)).code).toBe("CONFLICT");
    const left = await runInDurableObject(userStub(owner.userId), (_, { storage }) =>
      storage.sql.exec("SELECT * FROM ownership_attempts").toArray(),
    );
    expect(left).toEqual([]);
  });

  it("B9: count when another owner promotes the user, too", async () => {
    const [owner, other] = [await newUser(), await newUser()];
    for (let i = 0; i < 10; i++) await newWorkspace(other);
    const id = await newWorkspace(owner);
    await join(owner, id, other, "admin");
    const promoted = await setRole(owner, id, other.userId, "owner");
    expect([promoted.status, promoted.code]).toEqual([409, "CONFLICT"]);
    expect((await setRole(owner, id, other.userId, "member")).status).toBe(200);
    expect((await setRole(owner, id, "usr_0123456789aB", "owner")).code).toBe("NOT_FOUND");
    expect((await remove(owner, id, other.userId)).status).toBe(200);
    await forgetMails(other.email);
    invitationOf(await invite(owner, id, other.email, "owner"));
    const token = await invitationToken(id, other.email);
    const refused = await accept(other, token);
    expect([refused.status, refused.code]).toEqual([409, "CONFLICT"]);
    // The invitation is not used up: it is accepted once there is room.
    const { items } = (await by(other, "/workspaces")).data as { items: { id: string; personal: boolean }[] };
    const mine = items.find(({ personal }) => !personal)?.id;
    await by(other, `/workspaces/${mine}`, { method: "DELETE" });
    expect((await accept(other, token)).status).toBe(200);
  });

  it("B9: count two attempts at one workspace separately: after one ends, the other still counts", async () => {
    const { userId } = await newUser();
    const stub = userStub(userId);
    expect(await stub.beginOwnership({ id: "a", workspaceId: "ws_1" })).toEqual([]);
    expect(await stub.beginOwnership({ id: "b", workspaceId: "ws_1" })).toEqual(["ws_1"]);
    await stub.endOwnershipAttempt("a");
    expect(await stub.beginOwnership({ id: "c", workspaceId: "ws_2" })).toEqual(["ws_1"]);
    // An attempt whose request was lost expires after five minutes.
    vi.spyOn(Date, "now").mockReturnValue(Date.now() + 300_001);
    expect(await stub.beginOwnership({ id: "d", workspaceId: "ws_3" })).toEqual([]);
  });

  it("B9: accounts of the version before get the tables", async () => {
    const owner = await newUser();
    await runInDurableObject(userStub(owner.userId), (_, { storage: { sql } }) => {
      const kept = ["account", "families"].map((table) => ({
        table,
        rows: [...sql.exec(`SELECT * FROM ${table}`).raw()],
      }));
      for (const table of Object.keys(dump(sql))) sql.exec(`DROP TABLE ${table}`);
      migrate(sql, USER_SCHEMA.slice(0, USER_SCHEMA.indexOf(USER_QUOTA_SCHEMA)));
      for (const { table, rows } of kept) {
        for (const row of rows) sql.exec(`INSERT INTO ${table} VALUES (${row.map(() => "?").join()})`, ...row);
      }
      expect(Object.keys(dump(sql))).not.toContain("made_invitations");
    });
    await evictDurableObject(userStub(owner.userId));
    const id = await newWorkspace(owner);
    expect((await invite(owner, id, address(), "viewer")).status).toBe(201);
  });
});

describe("B12: keys that the new role may not create", () => {
  async function keyIn(user: User, workspaceId: string): Promise<{ secret: string; projectId: string }> {
    const headers = { "X-Workspace-Id": workspaceId };
    const project = await by(user, "/projects", { headers, body: { name: "Harbour" } });
    const projectId = (project.data as { id: string }).id;
    const body = { name: "writer", scopes: ["logs:write"] };
    const made = await by(user, `/projects/${projectId}/keys`, { headers, body });
    expect(made.status).toBe(201);
    return { secret: (made.data as { secret: string }).secret, projectId };
  }

  const send = ({ secret, projectId }: { secret: string; projectId: string }) =>
    call(`/logger/${projectId}/log`, { headers: bearer(secret), body: { message: "ahoy" } });

  it.each(["viewer", "member"] as const)(
    "B12: are revoked immediately with an admin's role, for a %s",
    async (role) => {
      const owner = await newUser();
      const id = await newWorkspace(owner);
      const admin = await join(owner, id, await newUser(), "admin");
      const [key, own] = [await keyIn(admin, id), await keyIn(owner, id)];
      expect((await send(key)).status).toBe(201);
      expect((await setRole(owner, id, admin.userId, role)).status).toBe(200);
      const refused = await send(key);
      expect([refused.status, refused.code]).toEqual([401, "API_KEY_REVOKED"]);
      expect((await send(own)).status).toBe(201);
      // The old role does not restore them.
      await setRole(owner, id, admin.userId, "admin");
      expect((await send(key)).code).toBe("API_KEY_REVOKED");
    },
  );

  it("B12: stay valid if the new role may create keys, too", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    const second = await join(owner, id, await newUser(), "owner");
    const key = await keyIn(second, id);
    expect((await setRole(owner, id, second.userId, "admin")).status).toBe(200);
    expect((await send(key)).status).toBe(201);
  });

  it("B12: are revoked when a member is removed or leaves", async () => {
    const owner = await newUser();
    const id = await newWorkspace(owner);
    for (const by of ["owner", "self"]) {
      const admin = await join(owner, id, await newUser(), "admin");
      const key = await keyIn(admin, id);
      expect((await remove(by === "owner" ? owner : admin, id, admin.userId)).status).toBe(200);
      expect((await send(key)).code).toBe("API_KEY_REVOKED");
    }
  });
});
