import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { readAccount } from "../../../src/accounts/account.ts";
import { finishPurge, purgeAccount, unfinishedPurge } from "../../../src/accounts/deletion.ts";
import { mailedToken, pendingMailsOf } from "./mail-support.ts";
import {
  type Answer,
  bearer,
  call,
  callWith,
  login,
  me,
  registered,
  type SignedIn,
  userStub,
  workspaceStub,
} from "./support.ts";

interface Attacker extends SignedIn {
  email: string;
  projectId: string;
  keys: string[];
}

function created(answer: Answer): Record<string, unknown> {
  expect([answer.status, answer.code]).toEqual([201, null]);
  // SAFETY: an answer of 201 carries an object; its members are compared by the tests.
  return answer.data as Record<string, unknown>;
}

async function newKey(owner: SignedIn, projectId: string): Promise<Answer> {
  const headers = { ...bearer(owner.accessToken), "X-Workspace-Id": owner.personalWorkspace.id };
  return call(`/projects/${projectId}/keys`, { headers, body: { name: "k", scopes: ["logs:write", "logs:read"] } });
}

/** Registers the victim's address as an attacker, and creates everything that could give access later. */
async function attack(email: string): Promise<Attacker> {
  const mine = await registered(email, "Mallory");
  const headers = { ...bearer(mine.accessToken), "X-Workspace-Id": mine.personalWorkspace.id };
  const project = created(await call("/projects", { headers, body: { name: "trap" } }));
  const projectId = String(project.id);
  const keys = [];
  for (let i = 0; i < 3; i++) keys.push(String(created(await newKey(mine, projectId)).secret));
  await runInDurableObject(userStub(mine.user.id), (_, { storage }) => {
    storage.sql.exec("INSERT INTO links VALUES ('provider_a', 'mallory', 'claim', 1), ('provider_b', 'm', 'c2', NULL)");
  });
  return { ...mine, email, projectId, keys };
}

const ingest = (key: string, projectId: string) =>
  call(`/logger/${projectId}/log`, { headers: bearer(key), body: { message: "mine" } });

async function expectLockedOut({ user, email, accessToken, refreshToken, keys, projectId }: Attacker): Promise<void> {
  expect((await me(accessToken)).code).toBe("SESSION_REVOKED");
  expect((await call("/auth/refresh", { body: { refreshToken } })).status).toBe(401);
  expect((await login(email)).code).toBe("INVALID_CREDENTIALS");
  for (const key of keys) {
    const answer = await ingest(key, projectId);
    expect([answer.status, answer.code]).toEqual([401, "API_KEY_REVOKED"]);
  }
  await runInDurableObject(userStub(user.id), (_, { storage }) => {
    expect(storage.sql.exec("SELECT * FROM links").toArray()).toEqual([]);
    expect(storage.sql.exec("SELECT * FROM one_time_tokens").toArray()).toEqual([]);
    expect(unfinishedPurge(storage.sql)).toBeNull();
  });
}

/** The ways in which the owner of an address proves it for the first time. */
const PROOFS = {
  "a magic link": async (email: string) => {
    await call("/auth/magic-link", { body: { email } });
    const answer = await call("/auth/magic-link/verify", { body: { token: await mailedToken(email, "magic-link") } });
    expect(answer.status).toBe(200);
    // SAFETY: as above.
    return (answer.data as SignedIn).accessToken;
  },
  "a password reset": async (email: string) => {
    await call("/auth/forgot-password", { body: { email } });
    const token = await mailedToken(email, "reset-password");
    expect((await call("/auth/reset-password", { body: { token, password: "the owner's own" } })).status).toBe(200);
    const answer = await login(email, "the owner's own");
    expect(answer.status).toBe(200);
    return (answer.data as SignedIn).accessToken;
  },
} as const;

describe("O5: the first proof of an address purges what was added before", () => {
  for (const [name, prove] of Object.entries(PROOFS)) {
    it(`${name}: deletes password, links, sessions, pending tokens and keys, then verifies the address`, async () => {
      const email = `o5-${name.replaceAll(" ", "-")}@example.com`;
      const attacker = await attack(email);
      const pending = await mailedToken(email, "verify-email");
      for (const key of attacker.keys) expect((await ingest(key, attacker.projectId)).status).toBe(201);
      await evictDurableObject(userStub(attacker.user.id));
      await evictDurableObject(workspaceStub(attacker.personalWorkspace.id));
      const accessToken = await prove(email);
      await expectLockedOut(attacker);
      expect((await call("/auth/verify-email", { body: { token: pending } })).code).toBe("INVALID_TOKEN");
      expect((await me(accessToken)).data).toEqual({ user: expect.objectContaining({ email, emailVerified: true }) });
      // What the owner creates afterwards stays.
      const owner = { ...attacker, accessToken };
      const key = String(created(await newKey(owner, attacker.projectId)).secret);
      await runDurableObjectAlarm(userStub(attacker.user.id));
      expect((await ingest(key, attacker.projectId)).status).toBe(201);
    });
  }

  it("returns 503 and opens no session until every workspace has revoked its keys", async () => {
    const uses = {
      "magic-link": (token: string) => call("/auth/magic-link/verify", { body: { token } }),
      "reset-password": (token: string) =>
        call("/auth/reset-password", { body: { token, password: "the owner's own" } }),
      "verify-email": (token: string) => call("/auth/verify-email/reject", { body: { token } }),
    };
    for (const [kind, use] of Object.entries(uses)) {
      const email = `o5-stuck-${kind}@example.com`;
      const attacker = await attack(email);
      if (kind === "magic-link") await call("/auth/magic-link", { body: { email } });
      if (kind === "reset-password") await call("/auth/forgot-password", { body: { email } });
      const token = await mailedToken(email, kind);
      const rename = (from: string, to: string) =>
        runInDurableObject(workspaceStub(attacker.personalWorkspace.id), (_, { storage }) => {
          storage.sql.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
        });
      await rename("keys", "keys_gone");
      const answer = await use(token);
      expect([kind, answer.status, answer.code]).toEqual([kind, 503, "SERVICE_UNAVAILABLE"]);
      expect(Number(answer.headers.get("Retry-After"))).toBeGreaterThan(0);
      expect((await use(token)).code).toBe("INVALID_TOKEN");
      await rename("keys_gone", "keys");
      expect(await runDurableObjectAlarm(userStub(attacker.user.id))).toBe(true);
      await expectLockedOut(attacker);
    }
  });

  it("'this was not me' purges too, once, and does not verify the address", async () => {
    const email = "o5-reject@example.com";
    const attacker = await attack(email);
    const token = await mailedToken(email, "verify-email");
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => call("/auth/verify-email/reject", { body: { token } })),
    );
    expect(answers.filter(({ status }) => status === 200).map(({ data }) => data)).toEqual([{ rejected: true }]);
    expect(answers.filter(({ code }) => code === "INVALID_TOKEN")).toHaveLength(24);
    await expectLockedOut(attacker);
    await runInDurableObject(userStub(attacker.user.id), (_, { storage }) => {
      expect(readAccount(storage.sql)).toMatchObject({ passwordHash: null, emailVerified: false });
    });
    const accessToken = await PROOFS["a password reset"](email);
    expect((await me(accessToken)).status).toBe(200);
  });

  it("a verified account keeps its data", async () => {
    const email = "o5-verified@example.com";
    const mine = await attack(email);
    await call("/auth/verify-email", { body: { token: await mailedToken(email, "verify-email") } });
    await PROOFS["a magic link"](email);
    expect((await me(mine.accessToken)).status).toBe(200);
    expect((await login(email)).status).toBe(200);
    for (const key of mine.keys) expect((await ingest(key, mine.projectId)).status).toBe(201);
  });

  it("after a crash before the keys are revoked, the alarm or the next proof revokes them", async () => {
    for (const finish of ["alarm", "proof"] as const) {
      const email = `o5-crash-${finish}@example.com`;
      const attacker = await attack(email);
      const stub = userStub(attacker.user.id);
      await runInDurableObject(stub, (_, { storage }) => {
        storage.transactionSync(() => purgeAccount(storage.sql, Date.now()));
        storage.setAlarm(Date.now() + 30_000);
      });
      await evictDurableObject(stub);
      expect((await me(attacker.accessToken)).code).toBe("SESSION_REVOKED");
      if (finish === "alarm") expect(await runDurableObjectAlarm(stub)).toBe(true);
      else await PROOFS["a magic link"](email);
      await expectLockedOut(attacker);
    }
  });

  it("revokes the user's keys in every workspace and no other keys; a failed revocation is repeated", async () => {
    const email = "o5-everywhere@example.com";
    const attacker = await attack(email);
    const other = await attack("o5-other@example.com");
    await env.DB.prepare("INSERT INTO memberships VALUES (?, ?)")
      .bind(attacker.user.id, other.personalWorkspace.id)
      .run();
    await runInDurableObject(workspaceStub(other.personalWorkspace.id), (_, { storage }) => {
      storage.sql.exec("UPDATE keys SET created_by = ? WHERE id = (SELECT id FROM keys LIMIT 1)", attacker.user.id);
    });
    const revoked: string[] = [];
    await runInDurableObject(userStub(attacker.user.id), async (_, { storage }) => {
      const now = Date.now();
      storage.transactionSync(() => purgeAccount(storage.sql, now));
      const failing = {
        workspacesOf: async () => [other.personalWorkspace.id],
        revokeKeys: async (id: string) => {
          revoked.push(id);
          if (id === other.personalWorkspace.id) throw new Error("not now");
        },
      };
      await expect(finishPurge(storage.sql, failing)).rejects.toThrow("not now");
      expect(unfinishedPurge(storage.sql)).toBeGreaterThanOrEqual(now);
    });
    expect(revoked.sort()).toEqual([attacker.personalWorkspace.id, other.personalWorkspace.id].sort());
    await userStub(attacker.user.id).finishPurge();
    const alive = [];
    for (const key of other.keys) alive.push((await ingest(key, other.projectId)).status);
    expect(alive.sort()).toEqual([201, 201, 401]);
  });

  it("a key that a request from before the purge creates after it is revoked and not returned", async () => {
    const email = "o5-late@example.com";
    const attacker = await attack(email);
    let isProven = false;
    const late = {
      idFromName: (name: string) => env.WORKSPACES.idFromName(name),
      get: (id: DurableObjectId) =>
        new Proxy(env.WORKSPACES.get(id), {
          get: (stub, name) => {
            // SAFETY: native RPC; each method that the route calls is a method of the object.
            const method = Reflect.get(stub, name) as (...args: unknown[]) => Promise<unknown>;
            return async (...args: unknown[]) => {
              // The session is verified. The owner's proof happens now.
              if (name === "manage" && !isProven) {
                isProven = true;
                await PROOFS["a magic link"](email);
              }
              return Reflect.apply(method, stub, args);
            };
          },
        }),
    };
    const headers = { ...bearer(attacker.accessToken), "X-Workspace-Id": attacker.personalWorkspace.id };
    const body = { name: "late", scopes: ["logs:write"] };
    const answer = await callWith({ WORKSPACES: late }, `/projects/${attacker.projectId}/keys`, { headers, body });
    expect([answer.status, answer.code]).toEqual([401, "SESSION_REVOKED"]);
    expect(answer.text).not.toContain("sk_");
    const alive = await runInDurableObject(workspaceStub(attacker.personalWorkspace.id), (_, { storage }) =>
      storage.sql.exec("SELECT name FROM keys WHERE revoked_at IS NULL").toArray(),
    );
    expect(alive).toEqual([]);
    await expectLockedOut(attacker);
  });

  it("a key that is created during the purge is never returned", async () => {
    const email = "o5-race@example.com";
    const attacker = await attack(email);
    await call("/auth/magic-link", { body: { email } });
    const token = await mailedToken(email, "magic-link");
    const racing = Array.from({ length: 20 }, () => newKey(attacker, attacker.projectId));
    const proof = call("/auth/magic-link/verify", { body: { token } });
    const more = Array.from({ length: 20 }, () => newKey(attacker, attacker.projectId));
    const answers = await Promise.all([...racing, ...more]);
    expect((await proof).status).toBe(200);
    for (const { status, data } of answers) {
      if (status !== 201) continue;
      const secret = String((data as { secret: string }).secret);
      expect((await ingest(secret, attacker.projectId)).code).toBe("API_KEY_REVOKED");
    }
    const rows = await runInDurableObject(workspaceStub(attacker.personalWorkspace.id), (_, { storage }) =>
      storage.sql.exec("SELECT id FROM keys WHERE revoked_at IS NULL").toArray(),
    );
    expect(rows).toEqual([]);
    expect(await pendingMailsOf(attacker.user.id)).toEqual([]);
  });
});
