import { beforeAll, describe, expect, it } from "vitest";
import { MAX_DESTINATIONS } from "../../../src/alerts/notifications/destinations.ts";
import { admitMail, leftOutReported, MAILS_AN_HOUR } from "../../../src/alerts/notifications/mail-limit.ts";
import { NOTIFICATION_SCHEMA } from "../../../src/alerts/notifications/schema.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { consume, mailsTo } from "../accounts/mail-support.ts";
import type { Answer, Call } from "../accounts/support.ts";
import { evict, onSql } from "../ingest/support.ts";
import { takeBack } from "../older-version.ts";
import { by, forgetMails, newMember, newUser, newWorkspace, type User } from "../workspaces/support.ts";

type Data = Record<string, unknown> & { id: string };

const HOOK = "https://hooks.example.com/taffrail";

let owner: User;
let member: User;
let workspaceId: string;

beforeAll(async () => {
  owner = await newUser();
  workspaceId = await newWorkspace(owner);
  member = await newMember(workspaceId, "member");
});

const ask = (path: string, options: Call = {}, user = owner, workspace = workspaceId): Promise<Answer> =>
  by(user, `/workspaces/${workspace}${path}`, options);

async function done(path: string, options: Call = {}): Promise<Data> {
  const answer = await ask(path, options);
  expect([path, answer.code, answer.details]).toEqual([path, null, []]);
  // SAFETY: tests check the members that they read.
  return answer.data as Data;
}

const create = (body: object): Promise<Data> => done("/destinations", { body: { name: crypto.randomUUID(), ...body } });

describe("a destination that alerts name", () => {
  it("is deleted only if that is forced, and then is removed from them", async () => {
    const workspace = await newWorkspace(owner);
    const headers = { "X-Workspace-Id": workspace };
    const of = async <T>(path: string, options: Call = {}) => {
      // SAFETY: tests check the members that they read.
      return (await by(owner, path, { ...options, headers })).data as T;
    };
    const hook = async (name: string) => {
      const answer = await ask("/destinations", { body: { kind: "webhook", url: HOOK, name } }, owner, workspace);
      return String(Reflect.get(Object(answer.data), "id"));
    };
    const [used, other] = [await hook("used"), await hook("other")];
    const { id: project } = await of<Data>("/projects", { body: { name: "shop" } });
    const body = { query: "*", condition: { kind: "threshold", value: 1 }, window: "1m" };
    const create = (name: string, destinations: string[]) =>
      of<Data>(`/projects/${project}/alerts`, { body: { ...body, name, destinations } });
    const both = await create("Both", [used, other]);
    const alone = await create("Alone", [used]);
    await create("Others", [other]);
    const refused = await ask(`/destinations/${used}`, { method: "DELETE" }, owner, workspace);
    expect([refused.status, refused.code]).toEqual([409, "CONFLICT"]);
    expect(refused.text).toContain(String.raw`The alerts \"Both\", \"Alone\"`);
    expect((await ask(`/destinations/${used}`, {}, owner, workspace)).status).toBe(200);
    const forced = await ask(`/destinations/${used}?force=true`, { method: "DELETE" }, owner, workspace);
    expect(forced.data).toEqual({
      deleted: true,
      alerts: [
        { projectId: project, id: both.id, name: "Both", version: 2 },
        { projectId: project, id: alone.id, name: "Alone", version: 2 },
      ],
    });
    const rules = await of<{ items: Data[] }>(`/projects/${project}/alerts`);
    expect(rules.items.map(({ destinations, missingDestinations }) => [destinations, missingDestinations])).toEqual([
      [[other], []],
      [[], []],
      [[other], []],
    ]);
    const path = `/projects/${project}/alerts/${alone.id}`;
    const change = { method: "PATCH", body: { version: 2, destinations: [used] } };
    expect((await by(owner, path, { ...change, headers })).status).toBe(409);
    const audited = await onSql(workspace, (sql) =>
      sql
        .exec("SELECT action FROM audit ORDER BY num DESC LIMIT 3")
        .toArray()
        .map(({ action }) => action),
    );
    expect(audited).toEqual(["alert.update", "alert.update", "destination.delete"]);
    // A version before this one deleted the destination alone.
    await onSql(workspace, (sql) => sql.exec("DELETE FROM destinations WHERE id = ?", other));
    const left = await of<{ items: Data[] }>(`/projects/${project}/alerts`);
    expect(left.items.map(({ missingDestinations }) => missingDestinations)).toEqual([[other], [], [other]]);
    expect(
      await of(`/projects/${project}/alerts/${both.id}`, { method: "PATCH", body: { version: 2, for: "1m" } }),
    ).toMatchObject({
      version: 3,
      missingDestinations: [other],
    });
  });
});

describe("a destination", () => {
  it("of every kind shows its secret never again, and the signing secret of a webhook once", async () => {
    const key = "0123456789abcdefghijklmnopqrstuv";
    const slack = "https://hooks.slack.com/services/T0/B0/secret";
    const made = [
      await create({ kind: "webhook", url: HOOK }),
      await create({ kind: "slack", url: slack }),
      await create({ kind: "pagerduty", routingKey: key }),
      await create({ kind: "alertmanager", url: "https://alerts.example.com", authorization: "Bearer secret-1" }),
      await create({ kind: "email", email: owner.email, canary: true }),
    ];
    expect(made.map(({ kind, url, email, hasSecret, canary }) => [kind, url, email, hasSecret, canary])).toEqual([
      ["webhook", HOOK, null, true, false],
      ["slack", null, null, true, false],
      ["pagerduty", null, null, true, false],
      ["alertmanager", "https://alerts.example.com", null, true, false],
      ["email", null, owner.email, false, true],
    ]);
    expect(made.map(({ secret }) => secret)).toEqual([
      expect.stringMatching(/^whsec_[\w+/]{43}=$/),
      null,
      null,
      null,
      null,
    ]);
    const secrets = [String(made[0]?.secret), slack, key, "secret-1"];
    const later = [
      await done("/destinations"),
      await done("/audit"),
      ...(await Promise.all(made.map(({ id }) => done(`/destinations/${id}`)))),
    ];
    for (const secret of secrets) expect(JSON.stringify(later)).not.toContain(secret);
  });

  it("is changed in part, of the version that the change names, and each change is in the audit", async () => {
    const { id, name } = await create({ kind: "webhook", url: HOOK });
    const changed = await done(`/destinations/${id}`, { method: "PATCH", body: { version: 1, enabled: false } });
    expect(changed).toMatchObject({ name, url: HOOK, version: 2, enabled: false, disabledReason: "paused" });
    const stale = await ask(`/destinations/${id}`, { method: "PATCH", body: { version: 1, name: "x" } });
    expect(stale.code).toBe("CONFLICT");
    await done(`/destinations/${id}`, { method: "PATCH", body: { version: 2, enabled: true, url: `${HOOK}/2` } });
    await done(`/destinations/${id}`, { method: "DELETE" });
    expect((await ask(`/destinations/${id}`)).code).toBe("NOT_FOUND");
    const { items } = (await done(`/audit?target=${id}`)) as unknown as { items: Record<string, unknown>[] };
    expect(items.map(({ action }) => action)).toEqual([
      "destination.delete",
      "destination.update",
      "destination.update",
      "destination.create",
    ]);
    expect(items[2]).toMatchObject({ before: { disabled: null }, after: { disabled: "paused" } });
  });

  it("has a secret of before for the time of a rotation's overlap", async () => {
    const { id, secret } = await create({ kind: "webhook", url: HOOK });
    const rotated = await done(`/destinations/${id}/rotate`, { body: { overlapSeconds: 60 } });
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    expect(rotated.previousSecretUntil).not.toBeNull();
    const at = await done(`/destinations/${id}/rotate`, { body: { overlapSeconds: 0 } });
    expect(at.previousSecretUntil).toBeNull();
    const other = await create({ kind: "email", email: owner.email });
    expect((await ask(`/destinations/${other.id}/rotate`, { body: {} })).code).toBe("CONFLICT");
  });

  it.each([
    ["a private address", { kind: "webhook", url: "https://10.0.0.1/" }],
    ["a decimal address", { kind: "slack", url: "https://2130706433/" }],
    ["the metadata service", { kind: "alertmanager", url: "https://169.254.169.254/" }],
    ["plain http", { kind: "webhook", url: "http://hooks.example.com/" }],
    ["a user name", { kind: "webhook", url: "https://a:b@hooks.example.com/" }],
    ["no URL", { kind: "webhook" }],
    ["a member of another kind", { kind: "webhook", url: HOOK, routingKey: "x".repeat(32) }],
    ["canaries of PagerDuty", { kind: "pagerduty", routingKey: "x".repeat(32), canary: true }],
    ["an unknown kind", { kind: "sms", url: HOOK }],
  ])("with %s is refused", async (_, body) => {
    const answer = await ask("/destinations", { body: { name: "x", ...body } });
    expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("of mails goes to a member at once, and an unconfirmed caller creates none", async () => {
    const unconfirmed = await newUser({ isVerified: false });
    const body = { kind: "email", name: "mails", email: unconfirmed.email };
    const answer = await ask("/destinations", { body }, unconfirmed, unconfirmed.workspaceId);
    expect(answer.code).toBe("EMAIL_NOT_VERIFIED");
    expect(await create({ kind: "email", email: member.email })).toMatchObject({
      userId: member.userId,
      enabled: true,
      hasSecret: false,
    });
  });

  it("refuses a name that is taken and members of other kinds", async () => {
    const { id, name } = await create({ kind: "email", email: owner.email });
    expect((await ask("/destinations", { body: { kind: "webhook", url: HOOK, name } })).code).toBe("CONFLICT");
    for (const change of [{ url: HOOK }, { routingKey: "x".repeat(32) }, { authorization: null }]) {
      const answer = await ask(`/destinations/${id}`, { method: "PATCH", body: { version: 1, ...change } });
      expect([change, answer.code]).toEqual([change, "CONFLICT"]);
    }
  });

  it("is tested at most once in 3 seconds, and the answer says why nothing arrived", async () => {
    const { id } = await create({ kind: "webhook", url: HOOK });
    expect(await done(`/destinations/${id}/test`, { method: "POST" })).toMatchObject({
      delivered: false,
      status: null,
      error: expect.stringMatching(/outbound network/),
    });
    const second = await ask(`/destinations/${id}/test`, { method: "POST" });
    expect([second.status, second.code]).toEqual([429, "RATE_LIMITED"]);
    expect(await done(`/destinations/${id}`)).toMatchObject({
      lastDeliveredAt: null,
      lastFailedAt: expect.any(String),
      lastAnswer: { status: null },
    });
  });

  it("of mails is tested with a mail to the member, until the member leaves", async () => {
    const guest = await newMember(workspaceId, "viewer");
    const { id } = await create({ kind: "email", email: guest.email });
    expect(await done(`/destinations/${id}/test`, { method: "POST" })).toMatchObject({ delivered: true });
    const mails = (await mailsTo(guest.email)).filter(({ kind }) => kind === "alert");
    expect(mails.map(({ subject }) => subject)).toEqual([expect.stringMatching(/^\[Test\] /)]);
    await ask(`/members/${guest.userId}`, { method: "DELETE" });
    await onSql(workspaceId, (sql) => sql.exec("UPDATE destinations SET tested_at = 0"));
    expect(await done(`/destinations/${id}/test`, { method: "POST" })).toMatchObject({ delivered: false });
  });
});

describe("an address without a member", () => {
  const address = () => `list-${crypto.randomUUID()}@example.com`;
  const answer = (action: string, token: string) => by(owner, `/destinations/${action}`, { body: { token } });

  /** The token of the newest mail to an address. */
  async function tokenTo(email: string, kind: string): Promise<string> {
    const owed = await onSql(workspaceId, (sql) => sql.exec("SELECT id FROM promised_mails").toArray());
    await consume(owed.map(({ id }) => [workspaceId, String(id)]));
    const links = (await mailsTo(email, kind))[0]?.links ?? [];
    return /\/auth\/address#token=(vt_[\w-]+)$/.exec(links.at(-1) ?? "")?.[1] ?? "";
  }

  it("gets nothing but a link until it is confirmed, and stops the mails for good", async () => {
    const email = address();
    const made = await create({ kind: "email", email });
    expect(made).toMatchObject({
      email,
      userId: null,
      enabled: false,
      disabledReason: "unconfirmed",
      hasSecret: false,
    });
    const test = () => ask(`/destinations/${made.id}/test`, { method: "POST" });
    expect((await test()).code).toBe("CONFLICT");
    const renamed = { method: "PATCH", body: { version: 1, name: `Lists ${made.id}`, enabled: true } };
    expect((await done(`/destinations/${made.id}`, renamed)).disabledReason).toBe("unconfirmed");
    const token = await tokenTo(email, "confirm-address");
    expect((await mailsTo(email)).map(({ kind }) => kind)).toEqual(["confirm-address"]);
    expect((await answer("open", token)).data).toMatchObject({ email, state: "unconfirmed" });
    expect((await answer("confirm", token)).data).toMatchObject({ state: "confirmed" });
    expect((await answer("confirm", token)).data).toMatchObject({ state: "confirmed" });
    expect(await done(`/destinations/${made.id}/test`, { method: "POST" })).toMatchObject({ delivered: true });
    const stop = await tokenTo(email, "alert");
    expect(stop).toBe(token);
    expect((await answer("stop", stop)).data).toMatchObject({ state: "stopped" });
    const { disabledReason, version } = await done(`/destinations/${made.id}`);
    expect(disabledReason).toBe("left");
    const again = { method: "PATCH", body: { version, enabled: true } };
    expect((await ask(`/destinations/${made.id}`, again)).code).toBe("CONFLICT");
    expect((await answer("confirm", token)).data).toMatchObject({ state: "stopped" });
  });

  it("gets at most one link a minute, and only the newest link works, for a week", async () => {
    const email = address();
    const { id } = await create({ kind: "email", email });
    const first = await tokenTo(email, "confirm-address");
    const path = `/destinations/${id}/confirmation`;
    expect((await ask(path, { method: "POST" })).status).toBe(429);
    expect((await ask("/destinations", { body: { kind: "email", name: "b", email } })).status).toBe(429);
    await forgetMails(email);
    await done(path, { method: "POST" });
    const second = await tokenTo(email, "confirm-address");
    expect((await answer("open", first)).code).toBe("INVALID_TOKEN");
    await onSql(workspaceId, (sql) => sql.exec("UPDATE destinations SET confirm_until = 1 WHERE id = ?", id));
    expect((await answer("confirm", second)).code).toBe("TOKEN_EXPIRED");
    expect((await answer("stop", second)).data).toMatchObject({ state: "stopped" });
  });

  it("is asked for only if it can be confirmed: other destinations count no mail", async () => {
    const email = address();
    const { id } = await create({ kind: "email", email });
    await answer("stop", await tokenTo(email, "confirm-address"));
    const others = [
      await create({ kind: "webhook", url: HOOK }),
      await create({ kind: "email", email: member.email }),
      { id, name: "" },
    ];
    // More often than a user may cause mails in a day.
    for (let times = 0; times < 7; times++) {
      for (const { id: other } of others)
        expect((await ask(`/destinations/${other}/confirmation`, { method: "POST" })).code).toBe("CONFLICT");
    }
    expect((await ask("/destinations/dest_unknown/confirmation", { method: "POST" })).code).toBe("NOT_FOUND");
    await create({ kind: "email", email: address() });
  });

  it("is refused with another token", async () => {
    for (const token of ["", "vt_x", `vt_${"a".repeat(55)}`, `vt_${"a".repeat(43)}`])
      expect([token, (await answer("confirm", token)).code]).toEqual([token, "INVALID_TOKEN"]);
  });
});

it("a destination gets 30 mails in an hour, and the next one says what was left out", async () => {
  const { id } = await create({ kind: "email", email: member.email });
  await onSql(workspaceId, (sql) => {
    const now = Date.now();
    for (let n = 0; n < MAILS_AN_HOUR; n++) expect(admitMail(sql, id, now + n * 1000)).toBe(0);
    expect(admitMail(sql, id, now + 40_000)).toBeNull();
    expect(admitMail(sql, id, now + 50_000)).toBeNull();
    expect(admitMail(sql, id, now + 3_600_000 + 500)).toBe(2);
    leftOutReported(sql, id, 2);
    expect(admitMail(sql, id, now + 3_600_000 + 1500)).toBe(0);
  });
});

it("a workspace has a bounded number of destinations", async () => {
  const user = await newUser();
  const body = () => ({ kind: "webhook", url: HOOK, name: crypto.randomUUID() });
  await onSql(user.workspaceId, (sql) => {
    for (let n = 0; n < MAX_DESTINATIONS - 1; n++) {
      sql.exec(
        `INSERT INTO destinations (id, kind, name, settings, version, created_by, created_at, updated_at)
         VALUES (?1, 'webhook', ?1, '{}', 1, 'usr', 0, 0)`,
        `dest_${String(n).padStart(12, "0")}`,
      );
    }
  });
  expect((await ask("/destinations", { body: body() }, user, user.workspaceId)).status).toBe(201);
  expect((await ask("/destinations", { body: body() }, user, user.workspaceId)).code).toBe("CONFLICT");
});

it("a workspace of the version before gets destinations", async () => {
  const user = await newUser();
  const id = user.workspaceId;
  await evict(id);
  await onSql(id, (sql) =>
    takeBack(sql, WORKSPACE_SCHEMA, NOTIFICATION_SCHEMA, ["workspace", "members", "projects", "keys", "audit"]),
  );
  await evict(id);
  const answer = await ask("/destinations", { body: { kind: "webhook", url: HOOK, name: "new" } }, user, id);
  expect(answer.status).toBe(201);
  expect((await ask("/notifications", {}, user, id)).data).toEqual({ items: [], nextCursor: null });
});
