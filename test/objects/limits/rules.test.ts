import { exports } from "cloudflare:workers";
import { beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import type { Limit, LimitRule } from "../../../src/limits/cascade.ts";
import { limitedPaths } from "../../../src/routes/workspaces/limits.ts";
import { projects } from "../../../src/routes/workspaces/projects.ts";
import { type Answer, bearer, call } from "../accounts/support.ts";
import { evict, onSql, send, workspace } from "../ingest/support.ts";
import { as, type KeyOf, newKey, newOwner, newProject, type Owner, refusal } from "../projects/support.ts";

const log = { message: "m" };
const limitOf = (answer: Answer) => Number(answer.headers.get("X-RateLimit-Limit"));
const remaining = (answer: Answer) => Number(answer.headers.get("X-RateLimit-Remaining"));
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);

const liveShape = z.object({
  live: z.array(z.object({ identifier: z.string(), rule: z.string(), limit: z.number(), remaining: z.number() })),
});

let owner: Owner;
let key: KeyOf;
beforeEach(async () => {
  owner = await newOwner();
  key = await newKey(owner, await newProject(owner));
});

const settingsPath = () => `/workspaces/${owner.workspaceId}/rate-limits`;
const put = (body: unknown, by = owner) => as(by, settingsPath(), { method: "PUT", body });
type Rule = Omit<LimitRule, "windowSeconds"> & { windowSeconds?: number };
async function configure(body: { default?: Limit; rules?: Rule[] }) {
  const answer = await put(body);
  expect([answer.status, answer.code, answer.details]).toEqual([200, null, []]);
  return answer;
}
const write = (to = key) => send(to, log);
const query = (by = key) => call("/logger/query", { body: {}, headers: bearer(by.secret) });
const live = async (identifier = `key:${key.keyId}`) => {
  const { data } = await as(owner, settingsPath());
  return liveShape.parse(data).live.filter((one) => one.identifier === identifier);
};

describe("rules", () => {
  it("take effect with the next request, each with a separate counter", async () => {
    const rules: Rule[] = [
      { method: "POST", path: "/logger/:id/log", limit: 2 },
      { method: "*", path: "/logger/query", limit: 3 },
    ];
    await configure({ default: { limit: 4, windowSeconds: 60 }, rules });
    expect(statuses([await write(), await write(), await write()])).toEqual([201, 201, 429]);
    expect(statuses([await query(), await query(), await query(), await query()])).toEqual([200, 200, 200, 429]);
    expect(limitOf(await write())).toBe(2);
    expect(limitOf(await query())).toBe(3);
    // Neither rule affects requests that match none.
    expect(limitOf(await as(owner, "/projects"))).toBe(4);
  });

  it("14: a 429 names the limit, its window, whom it counts and its rule, in a detail", async () => {
    const limitIn = ({ status, details }: Answer) => [status, details];
    const detail = (message: string) => [429, [{ path: "", code: "rate_limit", message }]];
    await configure({
      default: { limit: 1, windowSeconds: 600 },
      rules: [{ method: "POST", path: "/logger/:id/log", limit: 1 }],
    });
    await write();
    expect(limitIn(await write())).toEqual(
      detail("At most 1 request in 60 s for this API key (rule: POST /logger/:id/log)."),
    );
    await as(owner, "/projects");
    expect(limitIn(await as(owner, "/projects"))).toEqual(
      detail("At most 1 request in 600 s for this user (rule: default)."),
    );
  });

  it("survive eviction with their counters", async () => {
    await configure({ rules: [{ method: "POST", path: "/logger/:id/log", limit: 3 }] });
    await write();
    await evict(owner.workspaceId);
    expect(remaining(await write())).toBe(1);
    await evict(owner.workspaceId);
    expect(statuses([await write(), await write()])).toEqual([201, 429]);
  });

  it("prefer the literal path of one project to the pattern of all", async () => {
    const other = await newKey(owner, await newProject(owner));
    await configure({
      rules: [
        { method: "POST", path: "/logger/:id/log", limit: 9 },
        { method: "POST", path: `/logger/${key.projectId}/log`, limit: 1 },
      ],
    });
    expect(statuses([await write(), await write()])).toEqual([201, 429]);
    expect(limitOf(await write(other))).toBe(9);
    // Any spelling of the path means the same project.
    const spelled = { ...key, projectId: key.projectId.replace("_", "%5F") };
    expect(refusal(await write(spelled))).toEqual([429, "RATE_LIMITED"]);
  });

  it("count HEAD like GET", async () => {
    await configure({ rules: [{ method: "GET", path: "/projects", limit: 1 }] });
    const request = new Request("http://taffrail.test/projects", { method: "HEAD", headers: owner.headers });
    expect((await exports.default.fetch(request)).status).toBe(200);
    expect(refusal(await as(owner, "/projects"))).toEqual([429, "RATE_LIMITED"]);
  });

  it("admit each of 20 keys exactly its own limit of 1,000 parallel requests", async () => {
    const keys = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const projectId = await newProject(owner);
        return newKey(owner, projectId);
      }),
    );
    // Limits from 11 to 49 of every kind: literal, wildcard, pattern, default.
    const rules = keys.slice(0, 18).map(({ projectId }, at) => ({
      method: at % 2 === 0 ? ("POST" as const) : ("*" as const),
      path: `/logger/${projectId}/log`,
      limit: 11 + 2 * at,
    }));
    await configure({ rules: [...rules, { method: "*", path: "/logger/:id/log", limit: 49 }] });
    const expected = [...rules.map(({ limit }) => limit), 49, 49];
    const answers = await Promise.all(
      Array.from({ length: 1000 }, async (_, at) => ({ at: at % 20, answer: await write(keys[at % 20]) })),
    );
    const admitted = expected.map(
      (_, of) => answers.filter(({ at, answer }) => at === of && answer.status === 201).length,
    );
    expect(admitted).toEqual(expected);
    expect(answers.filter(({ answer }) => answer.status === 429)).toHaveLength(
      1000 - expected.reduce((sum, limit) => sum + limit, 0),
    );
  });
});

describe("a change of rules", () => {
  it("raises a limit at once, and admits no request above a lowered limit", async () => {
    const rule = (limit: number, windowSeconds = 60) =>
      configure({ rules: [{ method: "POST", path: "/logger/:id/log", limit, windowSeconds }] });
    await rule(3);
    await Promise.all([write(), write(), write()]);
    expect(refusal(await write())).toEqual([429, "RATE_LIMITED"]);
    await rule(5);
    expect(remaining(await write())).toBe(1);
    await rule(4);
    expect(refusal(await write())).toEqual([429, "RATE_LIMITED"]);
    await rule(2);
    expect(refusal(await write())).toEqual([429, "RATE_LIMITED"]);
    // Another window counts the same requests, in memory and after a restart.
    await rule(5, 3600);
    expect(remaining(await write())).toBe(0);
    await evict(owner.workspaceId);
    await rule(6, 600);
    expect(remaining(await write())).toBe(0);
  });

  it("keeps the counters of a rule that is removed and set again", async () => {
    const rules: Rule[] = [{ method: "POST", path: "/logger/:id/log", limit: 2 }];
    await configure({ rules });
    await Promise.all([write(), write()]);
    await as(owner, settingsPath(), { method: "DELETE" });
    // In the meantime the preset counts.
    expect([limitOf(await write()), remaining(await write())]).toEqual([1000, 998]);
    // With another parameter name it is the same rule.
    await configure({ rules: [{ method: "POST", path: "/logger/:projectId/log", limit: 3 }] });
    expect(remaining(await write())).toBe(0);
    expect(refusal(await write())).toEqual([429, "RATE_LIMITED"]);
    await configure({ rules: [] });
    expect(remaining(await write())).toBe(997);
  });
});

describe("GET, PUT and DELETE", () => {
  it("show the configuration as it was set and each counter under its rule", async () => {
    const rules = [
      { method: "POST", path: "/logger/:projectId/log", limit: 5, windowSeconds: 10 },
      { method: "*", path: "/logger/query", limit: 7, windowSeconds: 60 },
    ];
    const set = await put({ default: { limit: 9 }, rules });
    expect(set.data).toMatchObject({ default: { limit: 9, windowSeconds: 60 }, rules });
    await write();
    await write();
    await query();
    const { data } = await as(owner, settingsPath());
    expect(data).toMatchObject({ default: { limit: 9, windowSeconds: 60 }, rules });
    expect(await live()).toEqual([
      { identifier: `key:${key.keyId}`, rule: "POST /logger/:projectId/log", limit: 5, remaining: 3 },
      { identifier: `key:${key.keyId}`, rule: "* /logger/query", limit: 7, remaining: 6 },
    ]);
    // A counter without a rule limits no request.
    const cleared = await as(owner, settingsPath(), { method: "DELETE" });
    expect(cleared.data).toMatchObject({ default: null, rules: [] });
    expect(await live()).toEqual([]);
    await write();
    expect(await live()).toEqual([
      { identifier: `key:${key.keyId}`, rule: "API_DEFAULT", limit: 1000, remaining: 999 },
    ]);
  });

  it("accept what GET returned", async () => {
    await configure({ rules: [{ method: "*", path: "/projects", limit: 50 }] });
    const { live: _, ...shown } = (await as(owner, settingsPath())).data as Record<string, unknown>;
    expect((await put(shown)).data).toMatchObject(shown);
  });

  it("replace the whole configuration and write one row for it", async () => {
    const paths = Array.from({ length: 100 }, (_, at) => `/logger/proj_${String(at).padStart(12, "0")}/log`);
    await configure({ rules: paths.map((path) => ({ method: "POST" as const, path, limit: 5 })) });
    await configure({ default: { limit: 5, windowSeconds: 60 } });
    expect((await as(owner, settingsPath())).data).toMatchObject({ default: { limit: 5 }, rules: [] });
    expect(await onSql(owner.workspaceId, (sql) => sql.exec("SELECT limit_rules FROM workspace").one())).toEqual({
      limit_rules: null,
    });
  });

  it("require an admin; viewers may read", async () => {
    const stranger = await newOwner();
    const strange = (method: string, body?: unknown) => {
      const { Authorization } = stranger.headers;
      return call(settingsPath(), { method, headers: { Authorization }, ...(body === undefined ? {} : { body }) });
    };
    for (const role of [null, "viewer", "member", "admin", "owner"] as const) {
      await onSql(owner.workspaceId, (sql) => {
        sql.exec("DELETE FROM members WHERE user_id = ?", stranger.userId);
        if (role) sql.exec("INSERT INTO members (user_id, role, added_at) VALUES (?, ?, 0)", stranger.userId, role);
      });
      const look = role === null ? 404 : 200;
      const change = role === null ? 404 : role === "viewer" || role === "member" ? 403 : 200;
      const answers = [await strange("GET"), await strange("PUT", { rules: [] }), await strange("DELETE")];
      expect([role, ...statuses(answers)]).toEqual([role, look, change, change]);
    }
  });
});

describe("a bad rule", () => {
  const good = { method: "POST", path: "/logger/:id/log", limit: 5 };

  it.each([
    [{ ...good, path: "/logger/:id/logs" }, "rules.3.path"],
    [{ ...good, path: "/nothing" }, "rules.3.path"],
    [{ ...good, path: "/logger/*/log" }, "rules.3.path"],
    [{ ...good, path: "/auth/login" }, "rules.3.path"],
    [{ ...good, path: "/health" }, "rules.3.path"],
    [{ ...good, path: "" }, "rules.3.path"],
    [{ ...good, path: 5 }, "rules.3.path"],
    [{ ...good, path: `/logger/${"x".repeat(300)}/log` }, "rules.3.path"],
    [{ ...good, method: "post" }, "rules.3.method"],
    [{ ...good, method: "HEAD" }, "rules.3.method"],
    [{ ...good, method: "" }, "rules.3.method"],
    [{ ...good, limit: 0 }, "rules.3.limit"],
    [{ ...good, limit: 1_000_001 }, "rules.3.limit"],
    [{ ...good, limit: 2.5 }, "rules.3.limit"],
    [{ ...good, limit: undefined }, "rules.3.limit"],
    [{ ...good, limit: 16_667, windowSeconds: 3600 }, "rules.3.limit"],
    [{ ...good, windowSeconds: 0 }, "rules.3.windowSeconds"],
    [{ ...good, windowSeconds: 3601 }, "rules.3.windowSeconds"],
    [{ ...good, window: 60 }, "rules.3.window"],
    ["POST /logger/:id/log", "rules.3"],
    // The same rule as the second one, despite another parameter name.
    [{ ...good, method: "*", path: "/projects/:id" }, "rules.3.path"],
  ])("%j is refused by its number and member: %s", async (bad, path) => {
    const before = [
      { method: "POST", path: "/logger/query", limit: 5 },
      { method: "*", path: "/projects/:projectId", limit: 5 },
      { method: "GET", path: "/projects/:projectId", limit: 5 },
    ];
    const answer = await put({ rules: [...before, bad] });
    expect(refusal(answer)).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toMatchObject([{ path }]);
    expect((await as(owner, settingsPath())).data).toMatchObject({ default: null, rules: [] });
  });

  it("includes a missing body, which would remove every limit", async () => {
    await configure({ default: { limit: 50, windowSeconds: 60 } });
    for (const headers of [{}, { "Content-Type": "application/json" }]) {
      const answer = await as(owner, settingsPath(), { method: "PUT", headers });
      expect([400, 415]).toContain(answer.status);
    }
    expect((await as(owner, settingsPath())).data).toMatchObject({ default: { limit: 50 } });
  });

  it("is every rule after the hundredth", async () => {
    const rules = Array.from({ length: 101 }, (_, at) => ({ ...good, path: `/logger/proj_${at}/log` }));
    const answer = await put({ rules });
    expect(refusal(answer)).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toMatchObject([{ path: "rules" }]);
    expect((await put({ rules: rules.slice(1) })).status).toBe(200);
  });

  it("may name any route that counts in a workspace, and no other", () => {
    const paths = limitedPaths([projects]);
    expect(paths.has("/projects")).toBe(true);
    expect(paths.has("/projects/proj_x")).toBe(true);
    expect(paths.has("/logger/query")).toBe(false);
  });

  it("is not stored if the caller may not set limits", async () => {
    expect((await workspace(owner.workspaceId).setLimits("usr_000000000000", { default: null, rules: [] })).ok).toBe(
      false,
    );
  });
});
