import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type Answer, call } from "../accounts/support.ts";
import { newIp, newNetwork } from "../client-ips.ts";
import { evict, receiptOf, send, workspace } from "../ingest/support.ts";
import { as, type KeyOf, newKey, newOwner, newProject, type Owner, refusal } from "../projects/support.ts";

const log = { message: "m" };
const number = (answer: Answer, name: string) => {
  const text = answer.headers.get(name);
  expect([name, text]).toEqual([name, expect.stringMatching(/^\d+$/)]);
  return Number(text);
};
const remaining = (answer: Answer) => number(answer, "X-RateLimit-Remaining");
const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status);

let owner: Owner;
let key: KeyOf;
beforeEach(async () => {
  owner = await newOwner();
  key = await newKey(owner, await newProject(owner));
});

const settingsPath = () => `/workspaces/${owner.workspaceId}/rate-limits`;
const configure = async (limits: object | undefined, by = owner) => {
  const answer = await as(by, settingsPath(), { method: "PUT", body: limits ? { default: limits } : {} });
  expect([answer.status, answer.code]).toEqual([200, null]);
  return answer;
};
const write = () => send(key, log);
const burst = (count: number) => Promise.all(Array.from({ length: count }, write));

describe("a limit under load", () => {
  it("admits exactly its number of 200 parallel requests, with every header right, and survives eviction", async () => {
    await configure({ limit: 50 });
    const before = Math.floor(Date.now() / 1000);
    const answers = await burst(200);
    const admitted = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 429);
    expect([admitted.length, refused.length]).toEqual([50, 150]);
    expect(admitted.map(remaining).sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, i) => i));
    for (const answer of answers) {
      expect(number(answer, "X-RateLimit-Limit")).toBe(50);
      const reset = number(answer, "X-RateLimit-Reset");
      expect(reset).toBeGreaterThanOrEqual(before + 60);
      expect(reset).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 60);
    }
    for (const answer of refused) {
      expect(answer.code).toBe("RATE_LIMITED");
      expect(answer.text).toContain('"message":"Too many requests"');
      expect(remaining(answer)).toBe(0);
      expect(number(answer, "Retry-After")).toBeGreaterThan(0);
      expect(number(answer, "Retry-After")).toBeLessThanOrEqual(60);
    }
    for (const answer of admitted) expect(answer.headers.get("Retry-After")).toBeNull();
    await evict(owner.workspaceId);
    expect(statuses(await burst(20))).toEqual(Array(20).fill(429));
  });

  it("admits exactly its number across evictions in the middle of the window", async () => {
    await configure({ limit: 30 });
    let admitted = 0;
    for (let round = 0; round < 6; round++) {
      admitted += (await burst(8)).filter(({ status }) => status === 201).length;
      await evict(owner.workspaceId);
    }
    expect(admitted).toBe(30);
  });

  it("counts keys and users separately, under their identifiers", async () => {
    // The owner has created the project and the key and changed the limits: three of four requests.
    await configure({ limit: 4 });
    const sibling = await uncountedKey();
    expect(statuses(await burst(5)).sort()).toEqual([201, 201, 201, 201, 429]);
    expect(statuses([await as(owner, "/projects"), await as(owner, "/projects")])).toEqual([200, 429]);
    expect(statuses([await send(sibling, log)])).toEqual([201]);
    // A request that the object refuses for another reason counts as well.
    expect(refusal(await send({ ...sibling, projectId: "proj_000000000000" }, log))).toEqual([404, "NOT_FOUND"]);
    expect(refusal(await send(sibling, "{"))).toEqual([400, "VALIDATION_ERROR"]);
    expect(remaining(await send(sibling, log))).toBe(0);
    expect(refusal(await send(sibling, log))).toEqual([429, "RATE_LIMITED"]);
  });

  /** Creates a key without a counted request. */
  async function uncountedKey(): Promise<KeyOf> {
    const request = { name: "x", scopes: ["logs:write"] as const, expiresAt: null };
    const made = await workspace(owner.workspaceId).createKey(owner.userId, key.projectId, request);
    if (!made.ok) throw new Error(made.code);
    return { ...key, keyId: made.value.key.id, secret: made.value.secret };
  }

  it("moves with time: the next request fits when the first one has left the window, and refusals never count", async () => {
    await configure({ limit: 2, windowSeconds: 1 });
    // The requests of a busy machine would take longer than the window.
    const now = vi.spyOn(Date, "now").mockReturnValue(Date.now());
    onTestFinished(() => now.mockRestore());
    const first = await write();
    const second = await write();
    expect(statuses([first, second])).toEqual([201, 201]);
    const refused = await burst(20);
    expect(new Set(statuses(refused))).toEqual(new Set([429]));
    expect(number(refused[0] ?? first, "Retry-After")).toBe(1);
    // After `Reset`, which is rounded up, both requests are admitted again.
    now.mockReturnValue(number(second, "X-RateLimit-Reset") * 1000 + 1000);
    expect(statuses(await burst(5)).filter((status) => status === 201)).toHaveLength(2);
  });
});

describe("a changed limit", () => {
  it("takes effect with the next request, up and down, and keeps its counts", async () => {
    expect(remaining(await write())).toBe(999);
    await configure({ limit: 10 });
    expect(remaining(await write())).toBe(8);
    await configure({ limit: 2 });
    expect(refusal(await write())).toEqual([429, "RATE_LIMITED"]);
    await configure({ limit: 3 });
    expect(remaining(await write())).toBe(0);
    expect(refusal(await write())).toEqual([429, "RATE_LIMITED"]);
    // Without a default the preset applies again, and earlier admissions still count.
    await configure(undefined);
    const answer = await write();
    expect([number(answer, "X-RateLimit-Limit"), remaining(answer)]).toEqual([1000, 996]);
  });

  it("of the window includes counts of the previous window", async () => {
    await configure({ limit: 5, windowSeconds: 60 });
    await burst(3);
    await configure({ limit: 5, windowSeconds: 3600 });
    expect(remaining(await write())).toBe(1);
    await evict(owner.workspaceId);
    expect(remaining(await write())).toBe(0);
    await configure({ limit: 6, windowSeconds: 60 });
    expect(remaining(await write())).toBe(0);
  });

  it("never locks members out of the settings", async () => {
    await configure({ limit: 1 });
    expect(refusal(await as(owner, "/projects"))).toEqual([429, "RATE_LIMITED"]);
    for (let i = 0; i < 5; i++) {
      const answer = await as(owner, settingsPath());
      expect(answer.status).toBe(200);
      expect(number(answer, "X-RateLimit-Limit")).toBe(1000);
    }
    await configure({ limit: 100 });
    expect((await as(owner, "/projects")).status).toBe(200);
  });
});

describe("the settings", () => {
  it("show the default and the counters", async () => {
    expect((await as(owner, settingsPath())).data).toMatchObject({ default: null, rules: [] });
    await configure({ limit: 7 });
    await burst(3);
    const { data } = await as(owner, settingsPath());
    expect(data).toMatchObject({ default: { limit: 7, windowSeconds: 60 }, rules: [] });
    const live = (data as { live: { identifier: string }[] }).live.find(
      ({ identifier }) => identifier === `key:${key.keyId}`,
    );
    expect(live).toEqual({
      identifier: `key:${key.keyId}`,
      rule: "default",
      limit: 7,
      remaining: 4,
      resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    // Reading the settings does not count.
    expect(remaining(await write())).toBe(3);
  });

  it.each([
    [{ default: { limit: 0 } }, "default.limit"],
    [{ default: { limit: 1_000_001 } }, "default.limit"],
    [{ default: { limit: 1.5 } }, "default.limit"],
    [{ default: { limit: "5" } }, "default.limit"],
    [{ default: {} }, "default.limit"],
    [{ default: { limit: 5, windowSeconds: 0 } }, "default.windowSeconds"],
    [{ default: { limit: 5, windowSeconds: 3601 } }, "default.windowSeconds"],
    [{ default: { limit: 1_000_000, windowSeconds: 61 } }, "default.limit"],
    [{ default: { limit: 5, window: 60 } }, "default.window"],
    [{ limit: 5 }, "limit"],
    [{ default: [] }, "default"],
  ])("refuse %j and name %s", async (body, path) => {
    const answer = await as(owner, settingsPath(), { method: "PUT", body });
    expect(refusal(answer)).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toMatchObject([{ path }]);
    expect((await as(owner, settingsPath())).data).toMatchObject({ default: null });
  });

  it("accept the largest limit", async () => {
    await configure({ limit: 1_000_000, windowSeconds: 60 });
    expect(remaining(await write())).toBe(999_999);
    await configure({ limit: 16_666, windowSeconds: 3600 });
    expect(receiptOf(await write()).accepted).toBe(1);
  });
});

describe("unauthenticated requests", () => {
  const from = (ip: string, path: string, method = "GET") =>
    call(path, { method, headers: { "CF-Connecting-IP": ip } });

  it("count by client IP below every group, with any fault", async () => {
    const ip = newIp();
    const answers = [
      await from(ip, "/projects"),
      await from(ip, "/projects/x/keys"),
      await from(ip, "/logger"),
      await from(ip, "/logger/x/log", "POST"),
      await from(ip, "/logger/query", "POST"),
      await from(ip, "/workspaces/x/y/z"),
      await from(ip, "/sandbox/x"),
      await from(ip, "/projects", "DELETE"),
    ];
    expect(answers.map(remaining)).toEqual([999, 998, 997, 996, 995, 994, 993, 992]);
    expect(remaining(await from(newIp(), "/projects"))).toBe(999);
  });

  it("count by /64 for IPv6, and separately under /auth", async () => {
    const network = newNetwork();
    expect(remaining(await from(`${network}::1`, "/projects"))).toBe(999);
    expect(remaining(await from(`${network}:ffff::9`, "/projects"))).toBe(998);
    expect(remaining(await from(`${newNetwork()}::1`, "/projects"))).toBe(999);
    const auth = await from(`${network}::1`, "/auth/nothing");
    expect(number(auth, "X-RateLimit-Limit")).toBe(100_000);
    expect(remaining(auth)).toBe(99_999);
  });
});
