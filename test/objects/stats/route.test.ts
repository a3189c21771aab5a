import { beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { statsAnswerSchema } from "../../../src/logs/stats/histogram.ts";
import { bearer, call, registered } from "../accounts/support.ts";
import { workspaceStub } from "../query/support.ts";

type Stats = z.output<typeof statsAnswerSchema>;

const MINUTE = 60_000;
/** A full hour some hours ago, so that entries are in known buckets. */
const HOUR = Math.floor((Date.now() - 5 * 60 * MINUTE) / (60 * MINUTE)) * 60 * MINUTE;

const projects: { id: string; key: string }[] = [];
let user: Record<string, string> = {};
let writeOnly = "";

beforeAll(async () => {
  const { accessToken, personalWorkspace, user: owner } = await registered("stats@example.com");
  user = { ...bearer(accessToken), "X-Workspace-Id": personalWorkspace.id };
  const stub = workspaceStub(personalWorkspace.id);
  const keyOf = async (projectId: string, scopes: ("logs:write" | "logs:read")[]) => {
    const made = await stub.createKey(owner.id, projectId, { name: "k", scopes, expiresAt: null });
    if (!made.ok) throw new Error(made.message);
    return made.value.secret;
  };
  for (const name of ["One", "Two"]) {
    const project = await stub.createProject(owner.id, name);
    if (!project.ok) throw new Error(project.message);
    projects.push({ id: project.value.id, key: await keyOf(project.value.id, ["logs:write", "logs:read"]) });
  }
  writeOnly = await keyOf(projects[0]?.id ?? "", ["logs:write"]);
  await send(0, [
    { message: "a", level: "error", timestamp: HOUR },
    { message: "b", level: "info", timestamp: HOUR + 30_000, category: "http", type: "request" },
    { message: "c", level: "info", timestamp: HOUR + 6 * MINUTE, data: { n: 1 } },
  ]);
  await send(1, [{ message: "d", level: "warn", timestamp: HOUR + 59_999 }]);
});

async function send(project: number, logs: object[]): Promise<void> {
  const { id, key } = projects[project] ?? { id: "", key: "" };
  const answer = await call(`/logger/${id}/log`, { body: { logs }, headers: bearer(key) });
  expect(answer.status).toBe(201);
}

const asKey = () => bearer(projects[0]?.key ?? "");

async function statsOf(headers: Record<string, string>, body: unknown): Promise<Stats> {
  const answer = await call("/logger/stats", { body, headers });
  expect([answer.status, answer.code]).toEqual([200, null]);
  expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
  return statsAnswerSchema.strict().parse(answer.data);
}

const at = (ms: number) => new Date(HOUR + ms).toISOString();

describe("POST /logger/stats", () => {
  it("counts a key's own project, and for a member the whole workspace or one of its projects", async () => {
    expect(await statsOf(asKey(), { interval: "1m" })).toEqual({
      buckets: [
        { start: at(0), count: 2 },
        { start: at(6 * MINUTE), count: 1 },
      ],
      total: 3,
      complete: true,
      lastSeq: 3,
    });
    expect((await statsOf(user, { interval: "1h" })).buckets).toEqual([{ start: at(0), count: 4 }]);
    expect((await statsOf(user, { interval: "5m", projectId: projects[1]?.id })).total).toBe(1);
  });

  it("5: returns the last counted seq for a single project, so that a tail can continue from there", async () => {
    const seqOf = async (headers: Record<string, string>, body: object) =>
      (await statsOf(headers, { interval: "1m", ...body })).lastSeq;
    expect(await seqOf(asKey(), { groupBy: "category" })).toBe(3);
    expect(await seqOf(asKey(), { filters: { level: "fatal" } })).toBe(3);
    expect(await seqOf(asKey(), { filters: { search: "found nowhere" } })).toBe(3);
    expect(await seqOf(asKey(), { filters: { from: HOUR + 1, to: HOUR + 5 } })).toBe(3);
    expect(await seqOf(user, { projectId: projects[1]?.id })).toBe(1);
    expect(await seqOf(user, {})).toBeUndefined();
  });

  it("groups by level, category and type", async () => {
    const groupsBy = async (groupBy: string) => (await statsOf(user, { interval: "1d", groupBy })).buckets[0]?.groups;
    expect(await groupsBy("level")).toEqual({ info: 2, warn: 1, error: 1 });
    expect(await groupsBy("category")).toEqual({ custom: 3, http: 1 });
    expect(await groupsBy("type")).toEqual({ log: 3, request: 1 });
  });

  it("is exact with every filter, also if times cut a minute", async () => {
    const totalOf = async (filters: object) => (await statsOf(user, { interval: "1m", filters })).total;
    expect(await totalOf({ minLevel: "warn" })).toBe(2);
    expect(await totalOf({ category: "http" })).toBe(1);
    expect(await totalOf({ search: "C" })).toBe(1);
    expect(await totalOf({ data: { n: 1 } })).toBe(1);
    expect(await totalOf({ from: HOUR + 1, to: HOUR + 59_999 })).toBe(1);
    expect(await totalOf({ from: HOUR + 30_000, to: HOUR + 6 * MINUTE + 1 })).toBe(3);
    expect(await totalOf({ from: HOUR + 6 * MINUTE, to: HOUR })).toBe(0);
  });

  it("counts so many custom types that their names do not fit into one page of the object", async () => {
    const before = await statsOf(asKey(), { interval: "1d" });
    const name = (number: number) => `${number}-`.padEnd(64, "名");
    const batches = 16;
    for (let batch = 0; batch < batches; batch++) {
      const logs = Array.from({ length: 1000 }, (_, index) => {
        const own = name(batch * 1000 + index);
        return { message: "t", level: "trace", category: own, type: own, timestamp: HOUR };
      });
      await send(0, logs);
    }
    const answer = await statsOf(asKey(), { interval: "1d" });
    expect(answer.total).toBe(before.total + batches * 1000);
    const filters = { level: "trace", category: name(15_999) };
    const { buckets } = await statsOf(asKey(), { interval: "1d", groupBy: "type", filters });
    expect(buckets.map(({ groups }) => groups)).toEqual([{ [name(15_999)]: 1 }]);
  });

  it("refuses unknown members, and callers who may not read", async () => {
    const codeOf = async (headers: Record<string, string>, body: unknown) => {
      const answer = await call("/logger/stats", { body, headers });
      return [answer.status, answer.code];
    };
    const invalid = [400, "VALIDATION_ERROR"];
    expect(await codeOf(asKey(), {})).toEqual(invalid);
    expect(await codeOf(asKey(), { interval: "2m" })).toEqual(invalid);
    expect(await codeOf(asKey(), { interval: "1m", groupBy: "message" })).toEqual(invalid);
    expect(await codeOf(asKey(), { interval: "1m", filters: { levels: "info" } })).toEqual(invalid);
    expect(await codeOf(asKey(), { interval: "1m", limit: 5 })).toEqual(invalid);
    expect(await codeOf(asKey(), [])).toEqual(invalid);
    expect(await codeOf(asKey(), { interval: "1m", projectId: projects[1]?.id })).toEqual([404, "NOT_FOUND"]);
    expect(await codeOf(bearer(writeOnly), { interval: "1m" })).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(await codeOf({}, { interval: "1m" })).toEqual([401, "UNAUTHORIZED"]);
    const get = await call("/logger/stats", { method: "GET", headers: asKey() });
    expect([get.status, get.headers.get("Allow")]).toEqual([405, "POST"]);
  });
});
