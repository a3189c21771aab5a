import { listDurableObjectIds, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type NewAccount, readAccount } from "../../../src/accounts/account.ts";
import { claimAddress } from "../../../src/accounts/directory.ts";
import { hashPassword } from "../../../src/accounts/password.ts";
import { type RegistrationPorts, register } from "../../../src/accounts/register.ts";
import { newId } from "../../../src/ids.ts";
import { newAlarmOrigin } from "../../../src/platform/origin.ts";
import { registrationPorts } from "../../../src/routes/auth/sign-in.ts";
import { call, claimsOf, dump, login, me, PASSWORD, registered, signedIn, userStub, workspaceStub } from "./support.ts";

afterEach(() => vi.restoreAllMocks());

const register_ = (body: unknown) => call("/auth/register", { body });

async function workspacesOf(userId: string): Promise<unknown[]> {
  return (await env.DB.prepare("SELECT id, slug, name FROM workspaces WHERE personal_of = ?").bind(userId).all())
    .results;
}

/** Ids of the objects of a namespace that have a table. Orphans are not in the directory, so it cannot be asked. */
async function inhabited<T extends Rpc.DurableObjectBranded>(namespace: DurableObjectNamespace<T>): Promise<string[]> {
  const found: string[] = [];
  for (const id of await listDurableObjectIds(namespace)) {
    const tables = await runInDurableObject(namespace.get(id), (_, { storage }) => Object.keys(dump(storage.sql)));
    if (tables.length > 0) found.push(id.toString());
  }
  return found;
}

describe("POST /auth/register", () => {
  it("answers 201 with the user, tokens that work, and the personal workspace", async () => {
    const answer = await register_({ email: " Ada@Example.com ", password: PASSWORD, name: " Ada Lovelace " });
    expect(answer.status).toBe(201);
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
    expect(answer.headers.get("X-RateLimit-Limit")).not.toBeNull();
    const data = signedIn(answer);
    expect(data.user).toEqual({
      id: expect.stringMatching(/^usr_\w{12}$/),
      email: "ada@example.com",
      name: "Ada Lovelace",
    });
    expect(data.personalWorkspace).toEqual({ id: expect.stringMatching(/^ws_\w{12}$/), slug: "ada-lovelace" });
    expect(data.refreshToken).toMatch(/^rt_/);
    expect((await me(data.accessToken)).data).toEqual({ user: { ...data.user, emailVerified: false } });
    const { id } = data.personalWorkspace;
    expect(await workspacesOf(data.user.id)).toEqual([{ id, slug: "ada-lovelace", name: "Ada Lovelace" }]);
    const membership = env.DB.prepare("SELECT 1 FROM memberships WHERE user_id = ? AND workspace_id = ?");
    expect(await membership.bind(data.user.id, id).first()).not.toBeNull();
    await runInDurableObject(workspaceStub(id), (_, { storage }) => {
      const members = storage.sql.exec("SELECT user_id, role FROM members").toArray();
      expect(members).toEqual([{ user_id: data.user.id, role: "owner" }]);
    });
  });

  it("omits the name if none was given", async () => {
    expect((await registered("nameless@example.com")).user).not.toHaveProperty("name");
    const empty = await register_({ email: "empty-name@example.com", password: PASSWORD, name: "  " });
    expect(signedIn(empty).user).not.toHaveProperty("name");
    expect(signedIn(empty).personalWorkspace.slug).toBe("empty-name");
  });

  it("gives a taken slug a suffix", async () => {
    expect((await registered("twin1@example.com", "Twin")).personalWorkspace.slug).toBe("twin");
    expect((await registered("twin2@example.com", "Twin")).personalWorkspace.slug).toMatch(/^twin-[a-z0-9]{8}$/);
    expect((await registered("twin3@example.com", "TWIN")).personalWorkspace.slug).toMatch(/^twin-[a-z0-9]{8}$/);
  });

  it("refuses a known address, whatever its case, after hashing, and leaves the account as it was", async () => {
    await registered("known@example.com");
    const derive = vi.spyOn(crypto.subtle, "deriveBits");
    const again = await register_({ email: "KNOWN@example.com", password: "another password" });
    expect([again.status, again.code]).toEqual([409, "EMAIL_ALREADY_EXISTS"]);
    expect(derive).toHaveBeenCalledTimes(1);
    expect((await login("known@example.com")).status).toBe(200);
    expect((await login("known@example.com", "another password")).code).toBe("INVALID_CREDENTIALS");
  });

  it.each([
    ["email", { password: PASSWORD }],
    ["email", { email: "no address", password: PASSWORD }],
    ["email", { email: "\u212A@example.com", password: PASSWORD }],
    ["email", { email: 5, password: PASSWORD }],
    ["password", { email: "v@example.com" }],
    ["password", { email: "v@example.com", password: "1234567" }],
    ["password", { email: "v@example.com", password: "x".repeat(257) }],
    ["password", { email: "v@example.com", password: "\ud800 surrogate" }],
    ["password", { email: "v@example.com", password: { $gt: "" } }],
    ["name", { email: "v@example.com", password: PASSWORD, name: "two\nlines" }],
    ["name", { email: "v@example.com", password: PASSWORD, name: null }],
    ["role", { email: "v@example.com", password: PASSWORD, role: "owner" }],
    ["__proto__", `{"email":"v@example.com","password":"${PASSWORD}","__proto__":{"emailVerified":true}}`],
    ["", [1]],
  ])("names %j in a 400 and creates nothing", async (path, body) => {
    const answer = await register_(body);
    expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toContainEqual(expect.objectContaining({ path }));
    expect(answer.text).not.toContain(PASSWORD);
    expect(await env.DB.prepare("SELECT 1 FROM users WHERE email = 'v@example.com'").first()).toBeNull();
  });

  it("for one address in parallel: one 201, the rest 409, one account, one workspace, no orphans", async () => {
    const known = new Set([...(await inhabited(env.USERS)), ...(await inhabited(env.WORKSPACES))]);
    const isNew = (id: string) => !known.has(id);
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) => register_({ email: "race@example.com", password: `${PASSWORD} ${i}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)]);
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([null, "EMAIL_ALREADY_EXISTS"]));
    const rows = await env.DB.prepare("SELECT id FROM users WHERE email = 'race@example.com'").all();
    expect(rows.results).toHaveLength(1);
    const winner = answers.findIndex(({ status }) => status === 201);
    const [answer] = answers.slice(winner);
    if (!answer) throw new Error("No registration has won.");
    const { user, personalWorkspace } = signedIn(answer);
    expect(rows.results).toEqual([{ id: user.id }]);
    expect(await workspacesOf(user.id)).toHaveLength(1);
    expect((await login("race@example.com", `${PASSWORD} ${winner}`)).status).toBe(200);
    expect((await inhabited(env.USERS)).filter(isNew)).toEqual([env.USERS.idFromName(user.id).toString()]);
    const workspaceId = env.WORKSPACES.idFromName(personalWorkspace.id).toString();
    expect((await inhabited(env.WORKSPACES)).filter(isNew)).toEqual([workspaceId]);
  });
});

describe("register", () => {
  it("deletes both objects of the second registration, even if both found the address free", async () => {
    const ports = { ...registrationPorts({ ...env }, newAlarmOrigin()), findByEmail: async () => null };
    const accounts = [await newAccount("second@example.com"), await newAccount("second@example.com")];
    const outcomes = await Promise.all(accounts.map((account) => register(ports, account, Date.now())));
    expect(outcomes.map(({ ok }) => ok).sort()).toEqual([false, true]);
    const loser = accounts[outcomes.findIndex(({ ok }) => !ok)];
    if (!loser) throw new Error("No registration has lost.");
    expect(await objectsOf(loser)).toEqual({ user: [], workspace: [] });
    expect(await runDurableObjectAlarm(userStub(loser.id))).toBe(false);
  });
});

const STEPS = ["provisionUser", "provisionWorkspace", "claimAddress"] as const;

/** The real steps, which stop like a killed process before or after the named one. */
function crashing(at: (typeof STEPS)[number], when: "before" | "after"): RegistrationPorts {
  const ports = registrationPorts({ ...env }, newAlarmOrigin());
  const broken = { ...ports, discard: () => Promise.reject(new Error("no process is left to do this")) };
  const crash = async <T>(run: () => Promise<T>): Promise<T> => {
    if (when === "after") await run();
    throw new Error("killed");
  };
  if (at === "provisionUser") broken.provisionUser = (account) => crash(() => ports.provisionUser(account));
  if (at === "provisionWorkspace") broken.provisionWorkspace = (ws) => crash(() => ports.provisionWorkspace(ws));
  if (at === "claimAddress") broken.claimAddress = (claim) => crash(() => ports.claimAddress(claim));
  return broken;
}

async function newAccount(email: string): Promise<NewAccount> {
  const passwordHash = await hashPassword(PASSWORD);
  return { id: newId("usr"), workspaceId: newId("ws"), email, name: null, passwordHash, emailVerified: false };
}

async function objectsOf({ id, workspaceId }: NewAccount): Promise<{ user: string[]; workspace: string[] }> {
  const tables = (_: unknown, state: DurableObjectState): string[] => Object.keys(dump(state.storage.sql));
  return {
    user: await runInDurableObject(userStub(id), tables),
    workspace: await runInDurableObject(workspaceStub(workspaceId), tables),
  };
}

/** Runs the object's alarm at the time it was set for. */
async function alarmInTime(account: NewAccount): Promise<boolean> {
  const resolveAt = await runInDurableObject(
    userStub(account.id),
    (_, { storage }) => readAccount(storage.sql)?.resolveAt ?? 0,
  );
  vi.spyOn(Date, "now").mockReturnValue(resolveAt);
  const ran = await runDurableObjectAlarm(userStub(account.id));
  vi.restoreAllMocks();
  return ran;
}

describe("a registration that is killed", () => {
  const unlisted = [
    ["before", "provisionUser"],
    ["after", "provisionUser"],
    ["before", "provisionWorkspace"],
    ["after", "provisionWorkspace"],
    ["before", "claimAddress"],
  ] as const;

  it.each(unlisted)("%s %s leaves the address free at once, and no data", async (when, step) => {
    const account = await newAccount(`killed-${when}-${step.toLowerCase()}@example.com`);
    await expect(register(crashing(step, when), account, Date.now())).rejects.toThrow("killed");
    const again = await register_({ email: account.email, password: PASSWORD });
    expect(again.status).toBe(201);
    await alarmInTime(account);
    expect(await objectsOf(account)).toEqual({ user: [], workspace: [] });
    expect(await runDurableObjectAlarm(userStub(account.id))).toBe(false);
    expect((await me(signedIn(again).accessToken)).status).toBe(200);
  });

  it("after claimAddress leaves a usable account, before its alarm and after it", async () => {
    for (const early of [true, false]) {
      const account = await newAccount(`killed-late-${early}@example.com`);
      await expect(register(crashing("claimAddress", "after"), account, Date.now())).rejects.toThrow("killed");
      expect((await register_({ email: account.email, password: PASSWORD })).code).toBe("EMAIL_ALREADY_EXISTS");
      if (early) expect((await login(account.email)).status).toBe(200);
      expect(await alarmInTime(account)).toBe(true);
      await runInDurableObject(userStub(account.id), (_, { storage }) => {
        expect(readAccount(storage.sql)?.confirmed).toBe(true);
      });
      const answer = await login(account.email);
      expect(answer.status).toBe(200);
      expect(signedIn(answer).personalWorkspace.id).toBe(account.workspaceId);
      expect((await objectsOf(account)).workspace).not.toEqual([]);
    }
  });

  it("is not deleted early: the alarm waits until no claim can follow", async () => {
    const account = await newAccount("early@example.com");
    await expect(register(crashing("claimAddress", "before"), account, Date.now())).rejects.toThrow("killed");
    expect(await runDurableObjectAlarm(userStub(account.id))).toBe(true);
    expect((await objectsOf(account)).user).not.toEqual([]);
    expect(await alarmInTime(account)).toBe(true);
    expect(await objectsOf(account)).toEqual({ user: [], workspace: [] });
  });

  it("is resolved later if the directory does not answer", async () => {
    const account = await newAccount("outage@example.com");
    await expect(register(crashing("claimAddress", "after"), account, Date.now())).rejects.toThrow("killed");
    await env.DB.prepare("ALTER TABLE users RENAME TO users_gone").run();
    expect(await alarmInTime(account)).toBe(true);
    await env.DB.prepare("ALTER TABLE users_gone RENAME TO users").run();
    await runInDurableObject(userStub(account.id), async (_, { storage }) => {
      expect(readAccount(storage.sql)?.confirmed).toBe(false);
      expect(await storage.getAlarm()).toBeGreaterThan(Date.now());
    });
    expect(await alarmInTime(account)).toBe(true);
    expect((await login(account.email)).status).toBe(200);
  });
});

describe("claimAddress", () => {
  const claim = (email: string, slug: string, deadline: number) => ({
    userId: newId("usr"),
    email,
    workspaceId: newId("ws"),
    workspaceName: "W",
    slug,
    fallbackSlug: `${slug}-2`,
    now: Date.now(),
    deadline,
  });

  it("lists nothing past its deadline, by the database's clock", async () => {
    const late = claim("late@example.com", "late", Date.now() - 1000);
    expect(await claimAddress(env.DB, late)).toEqual({ ok: false, reason: "late" });
    expect(await env.DB.prepare("SELECT 1 FROM users WHERE id = ?").bind(late.userId).first()).toBeNull();
    expect(await workspacesOf(late.userId)).toEqual([]);
    const inTime = claim("late@example.com", "late", Date.now() + 60_000);
    expect(await claimAddress(env.DB, inTime)).toEqual({ ok: true, slug: "late" });
  });

  it("lists nothing if the workspace cannot be listed", async () => {
    await claimAddress(env.DB, claim("s1@example.com", "full", Date.now() + 60_000));
    await claimAddress(env.DB, claim("s2@example.com", "full", Date.now() + 60_000));
    const third = claim("s3@example.com", "full", Date.now() + 60_000);
    await expect(claimAddress(env.DB, third)).rejects.toThrow();
    expect(await env.DB.prepare("SELECT 1 FROM users WHERE email = 's3@example.com'").first()).toBeNull();
  });
});

describe("UserObject.discard", () => {
  it("never deletes an account that is in use", async () => {
    const { user, accessToken } = await registered("keep@example.com");
    await userStub(user.id).discard();
    expect((await me(accessToken)).status).toBe(200);
    expect((await claimsOf(accessToken)).userId).toBe(user.id);
  });
});
