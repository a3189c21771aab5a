import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bearer, call } from "../accounts/support.ts";
import { AGED_MS, clock, flushAll } from "../flush/support.ts";
import { onSql } from "../ingest/support.ts";
import { as, newKey, newOwner, newProject, type Owner } from "../projects/support.ts";

const DAY_MS = 86_400_000;

let owner: Owner;
beforeEach(async () => {
  clock.start();
  owner = await newOwner();
});
afterEach(() => clock.stop());

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const today = () => Math.floor(Date.now() / DAY_MS) * DAY_MS;

async function daysOf(query = "") {
  return as(owner, `/workspaces/${owner.workspaceId}/usage/days${query}`);
}

async function send(projectId: string, secret: string, ...entries: object[]): Promise<void> {
  const answer = await call(`/logger/${projectId}/log`, { body: entries, headers: bearer(secret) });
  expect(answer.status).toBe(201);
}

describe("GET /workspaces/{id}/usage/days", () => {
  it("counts every project by day and level, the same while entries are recent and after they are flushed", async () => {
    const [shop, empty] = [await newProject(owner, "shop"), await newProject(owner, "empty")];
    const { secret } = await newKey(owner, shop);
    const at = (days: number, ms = 0) => today() - days * DAY_MS + ms;
    await send(
      shop,
      secret,
      { message: "first moment of a day", timestamp: at(2), level: "error" },
      { message: "last moment of the day before", timestamp: at(2, -1) },
      { message: "same day", timestamp: at(2, DAY_MS - 1), level: "info" },
    );
    await send(shop, secret, { message: "today", timestamp: at(0, 1), level: "fatal" });
    const expected = {
      from: dayOf(at(29)),
      to: dayOf(at(0)),
      items: [
        {
          projectId: shop,
          name: "shop",
          entries: 4,
          days: [
            { day: dayOf(at(3)), entries: 1, levels: { info: 1 } },
            { day: dayOf(at(2)), entries: 2, levels: { info: 1, error: 1 } },
            { day: dayOf(at(0)), entries: 1, levels: { fatal: 1 } },
          ],
          complete: true,
        },
        { projectId: empty, name: "empty", entries: 0, days: [], complete: true },
      ],
      nextCursor: null,
    };
    expect((await daysOf()).data).toEqual(expected);
    expect(await flushAll(owner)).toBeGreaterThan(0);
    // Back to the lifetime of the access token.
    clock.pass(-AGED_MS);
    expect((await daysOf()).data).toEqual(expected);
    const one = await daysOf(`?from=${dayOf(at(2))}&to=${dayOf(at(2))}`);
    expect(one.data).toMatchObject({ items: [{ entries: 2 }, { entries: 0 }] });
  });

  it("returns projects by pages, each request counted once", async () => {
    for (const name of ["a", "b", "c"]) await newProject(owner, name);
    const names: string[] = [];
    let left = Number((await daysOf("?limit=1")).headers.get("X-RateLimit-Remaining"));
    for (let cursor = ""; ; ) {
      const answer = await daysOf(`?limit=2&cursor=${cursor}`);
      expect(Number(answer.headers.get("X-RateLimit-Remaining"))).toBe(--left);
      // SAFETY: the shape that the test above compares.
      const page = answer.data as { items: { name: string }[]; nextCursor: string | null };
      names.push(...page.items.map(({ name }) => name));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(names).toEqual(["a", "b", "c"]);
  });

  it.each([
    ["?from=2026-11-02&to=2026-11-01", "query.from"],
    ["?from=2025-01-01&to=2026-11-01", "query.from"],
    ["?from=yesterday", "query.from"],
    ["?to=2026-02-30", "query.to"],
    ["?limit=51", "query.limit"],
    ["?limit=0", "query.limit"],
    ["?cursor=x", "query.cursor"],
    ["?days=3", "query.days"],
  ])("refuses %s", async (query, path) => {
    const answer = await daysOf(query);
    expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toMatchObject([{ path }]);
  });

  it("is for members: another account gets 404", async () => {
    const other = await newOwner();
    const headers = { Authorization: other.headers.Authorization };
    const answer = await call(`/workspaces/${owner.workspaceId}/usage/days`, { headers });
    expect([answer.status, answer.code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("GET /workspaces/{id}/keys", () => {
  it("lists valid keys of all projects, and those that nothing uses", async () => {
    const [one, two] = [await newProject(owner, "one"), await newProject(owner, "two")];
    const used = await newKey(owner, one, { name: "used" });
    const idle = await newKey(owner, two, { name: "idle" });
    const revoked = await newKey(owner, two, { name: "revoked" });
    await newKey(owner, one, { name: "ends", expiresAt: Date.now() + 20 * DAY_MS });
    expect((await as(owner, `/projects/${two}/keys/${revoked.keyId}`, { method: "DELETE" })).status).toBe(200);
    const list = async (query = "") => {
      const answer = await as(owner, `/workspaces/${owner.workspaceId}/keys${query}`);
      expect(answer.status).toBe(200);
      expect(answer.text).not.toContain(used.secret);
      // SAFETY: a page of keys.
      const page = answer.data as {
        items: { id: string; name: string; projectId: string }[];
        nextCursor: string | null;
      };
      return page;
    };
    // Created in the same millisecond, and in order of their ids then.
    const names = (page: { items: { name: string }[] }) => page.items.map(({ name }) => name).sort();
    expect(names(await list())).toEqual(["ends", "idle", "used"]);
    expect((await list("?unusedForDays=1")).items).toEqual([]);
    await send(one, used.secret, { message: "still in use" });
    await onSql(owner.workspaceId, (sql) =>
      sql.exec("UPDATE keys SET created_at = created_at - ?1, expires_at = expires_at - ?1", 31 * DAY_MS),
    );
    // One key has expired.
    expect((await list("?unusedForDays=30")).items).toMatchObject([{ id: idle.keyId, name: "idle", projectId: two }]);
    const first = await list("?limit=1");
    const second = await list(`?limit=1&cursor=${first.nextCursor}`);
    expect(names({ items: [...first.items, ...second.items] })).toEqual(["idle", "used"]);
    expect(second.nextCursor).toBeNull();
  });

  it.each(["?unusedForDays=0", "?unusedForDays=366", "?unusedForDays=x", "?cursor=1"])("refuses %s", async (query) => {
    const answer = await as(owner, `/workspaces/${owner.workspaceId}/keys${query}`);
    expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
  });
});
