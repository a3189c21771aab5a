import { beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { queryPageSchema } from "../../../src/logs/entry-view.ts";
import { type Answer, bearer, call, registered } from "../accounts/support.ts";
import { workspaceStub } from "./support.ts";

type Page = z.output<typeof queryPageSchema>;

interface Project {
  id: string;
  key: string;
}

let workspaceId = "";
let user: Record<string, string> = {};
let first: Project;
let second: Project;

beforeAll(async () => {
  const { accessToken, personalWorkspace, user: owner } = await registered("query@example.com");
  workspaceId = personalWorkspace.id;
  user = { ...bearer(accessToken), "X-Workspace-Id": workspaceId };
  const make = async (name: string): Promise<Project> => {
    const stub = workspaceStub(workspaceId);
    const project = await stub.createProject(owner.id, name);
    if (!project.ok) throw new Error(project.message);
    return { id: project.value.id, key: await keyOf(owner.id, project.value.id, ["logs:write", "logs:read"]) };
  };
  const keyOf = async (ownerId: string, projectId: string, scopes: ("logs:write" | "logs:read")[]) => {
    const made = await workspaceStub(workspaceId).createKey(ownerId, projectId, { name: "k", scopes, expiresAt: null });
    if (!made.ok) throw new Error(made.message);
    return made.value.secret;
  };
  first = await make("One");
  second = await make("Two");
  writeOnly = await keyOf(owner.id, first.id, ["logs:write"]);
  await send(first, [
    {
      message: "Payment failed",
      level: "error",
      timestamp: now - 3000,
      data: { user: { plan: "Team" }, ms: 812, "a.b": 1 },
    },
    { message: "GET /", level: "info", category: "http", type: "request", timestamp: now - 2000, session: "s1" },
  ]);
  await send(second, [{ message: "payment of another", level: "warn", timestamp: now - 2000, traceId: "t1" }]);
});

const now = Date.now();
let writeOnly = "";

async function send({ id, key }: Project, logs: object[]): Promise<void> {
  const answer = await call(`/logger/${id}/log`, { body: { logs }, headers: bearer(key) });
  expect(answer.status).toBe(201);
}

function query(headers: Record<string, string>, body: unknown): Promise<Answer> {
  return call("/logger/query", { body, headers });
}

async function pageOf(headers: Record<string, string>, body: unknown): Promise<Page> {
  const answer = await query(headers, body);
  expect([answer.status, answer.code]).toEqual([200, null]);
  return queryPageSchema.strict().parse(answer.data);
}

async function messages(headers: Record<string, string>, body: unknown): Promise<string[]> {
  return (await pageOf(headers, body)).logs.map(({ message }) => message);
}

describe("POST /logger/query", () => {
  it("returns a key its own project, and a member all of the workspace or one project", async () => {
    expect(await messages(bearer(first.key), {})).toEqual(["GET /", "Payment failed"]);
    expect(await messages(bearer(first.key), { projectId: first.id, order: "asc" })).toEqual([
      "Payment failed",
      "GET /",
    ]);
    expect(await messages(user, {})).toEqual(["GET /", "payment of another", "Payment failed"]);
    expect(await messages(user, { projectId: second.id })).toEqual(["payment of another"]);
  });

  it("refuses an integer that no entry can have, and names its position", async () => {
    for (const [data, path] of [
      ['{"ms":9007199254740993}', "filters.data.ms"],
      ['{"ms":{"gte":12345678901234567890}}', "filters.data.ms.gte"],
      ['{"ms":{"in":[1,9007199254740993]}}', "filters.data.ms.in.1"],
    ]) {
      const answer = await query(user, `{"filters":{"data":${data}}}`);
      const message = "An integer with this many digits is stored as a string only. Send a string.";
      expect([answer.status, answer.details]).toMatchObject([400, [{ path, message }]]);
    }
    // Texts with as many digits, which lose none.
    expect(await messages(user, '{"filters":{"data":{"ms":{"lt":9007199254740992}}}}')).toEqual(["Payment failed"]);
    expect(await messages(user, '{"filters":{"data":{"ms":{"lt":1e300}}}}')).toEqual(["Payment failed"]);
  });

  it.each([
    [{ level: "error" }, ["Payment failed"]],
    [{ level: ["warn", "info"] }, ["GET /", "payment of another"]],
    [{ minLevel: "warn" }, ["payment of another", "Payment failed"]],
    [{ category: "http", type: ["request", "response"] }, ["GET /"]],
    [{ session: "s1" }, ["GET /"]],
    [{ traceId: "t1" }, ["payment of another"]],
    [{ search: "PAYMENT" }, ["payment of another", "Payment failed"]],
    [{ search: "team" }, ["Payment failed"]],
    [{ data: { "user.plan": "Team" } }, ["Payment failed"]],
    [{ data: { ms: { gte: 800, lt: 813 }, '["a.b"]': { in: [1, 2] } } }, ["Payment failed"]],
    [{ data: { ms: { exists: false } } }, ["GET /", "payment of another"]],
    [{ from: new Date(now - 2000).toISOString() }, ["GET /", "payment of another"]],
    [{ to: now - 2000 }, ["Payment failed"]],
    [{ level: "fatal" }, []],
  ])("filters by %j", async (filters, expected) => {
    expect(await messages(user, { filters })).toEqual(expected);
  });

  it("continues after a page in the same snapshot", async () => {
    const one = await pageOf(user, { pagination: { limit: 2, includeTotal: true } });
    expect(one.pagination).toMatchObject({ offset: 0, limit: 2, hasMore: true, total: 3 });
    await send(first, [{ message: "late", timestamp: now - 2500 }]);
    const cursor = one.pagination.nextCursor;
    const rest = await pageOf(user, { pagination: { cursor, limit: 2 } });
    expect(rest.logs.map(({ message }) => message)).toEqual(["Payment failed"]);
    expect(rest).toMatchObject({ asOf: one.asOf, complete: true, pagination: { hasMore: false, nextCursor: null } });
    expect(await messages(user, { asOf: one.asOf, pagination: { offset: 2 } })).toEqual(["Payment failed"]);
    for (const [headers, body, path] of [
      [bearer(first.key), { pagination: { cursor } }, "pagination.cursor"],
      [user, { pagination: { cursor }, filters: { level: "info" } }, "pagination.cursor"],
      [user, { pagination: { cursor }, projectId: first.id }, "pagination.cursor"],
      [user, { pagination: { cursor }, order: "asc" }, "order"],
      [user, { pagination: { cursor, offset: 2 } }, "pagination.offset"],
      [user, { asOf: "zzzzz" }, "asOf"],
    ] as const) {
      const answer = await query(headers, body);
      expect([answer.code, answer.details]).toEqual(["VALIDATION_ERROR", [expect.objectContaining({ path })]]);
    }
  });

  it("reports errors of the credential before those of the body, and counts a bad body once", async () => {
    const bad = { filters: { levels: "error" } };
    expect((await query({}, bad)).code).toBe("UNAUTHORIZED");
    expect((await query(bearer("sk_nonsense"), bad)).code).toBe("INVALID_API_KEY");
    expect((await query(bearer(writeOnly), bad)).code).toBe("INSUFFICIENT_SCOPE");
    expect((await query(bearer(writeOnly), {})).code).toBe("INSUFFICIENT_SCOPE");
    const remaining = (answer: Answer) => Number(answer.headers.get("X-RateLimit-Remaining"));
    const before = remaining(await query(bearer(first.key), {}));
    const answer = await query(bearer(first.key), bad);
    expect([answer.status, answer.code, remaining(answer)]).toEqual([400, "VALIDATION_ERROR", before - 1]);
    expect(answer.details).toEqual([expect.objectContaining({ path: "filters.levels" })]);
    const broken = await query(bearer(first.key), "{");
    expect([broken.code, remaining(broken)]).toEqual(["VALIDATION_ERROR", before - 2]);
    const typed = await call("/logger/query", {
      body: "{}",
      headers: { ...bearer(first.key), "Content-Type": "text/plain" },
    });
    expect([typed.status, remaining(typed)]).toEqual([415, before - 3]);
  });

  it("rejects projects of others, and requires a workspace with an access token", async () => {
    expect((await query(bearer(first.key), { projectId: second.id })).code).toBe("NOT_FOUND");
    expect((await query(user, { projectId: "proj_doesnotexist" })).code).toBe("NOT_FOUND");
    const { Authorization = "" } = user;
    expect((await query({ Authorization }, {})).code).toBe("VALIDATION_ERROR");
    expect((await query({ Authorization, "X-Workspace-Id": "ws_000000000000" }, {})).code).toBe("NOT_FOUND");
  });

  it("counts a request once, however many turns of the object it takes", async () => {
    const big = "x".repeat(200_000);
    const noise = () =>
      Array.from(crypto.getRandomValues(new Uint8Array(30_000)), (byte) => byte.toString(36)).join("");
    for (let n = 0; n < 60; n++) {
      await send(second, [{ message: "big", timestamp: now - 10_000 - n, data: { noise: noise(), big } }]);
    }
    const remaining = async (body: unknown) => {
      const answer = await query(bearer(second.key), body);
      expect(answer.status).toBe(200);
      return Number(answer.headers.get("X-RateLimit-Remaining"));
    };
    const before = await remaining({});
    expect(await remaining({ filters: { search: "in none of them" } })).toBe(before - 1);
    const page = await pageOf(bearer(second.key), { filters: { search: "in none of them" } });
    expect(page.stats.scanned).toBe(61);
    // 60 entries of 250 KB exceed one response, so the response is partial and can be continued.
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const part: Page = await pageOf(bearer(second.key), { pagination: cursor ? { cursor } : {} });
      seen.push(...part.logs.map(({ seq }) => seq));
      expect(part.complete).toBe(part.pagination.nextCursor === null);
      cursor = part.pagination.nextCursor;
    } while (cursor !== null);
    expect(seen).toEqual(Array.from({ length: 61 }, (_, n) => n + 1));
  });
});
