import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { MemberManagement } from "../../../src/objects/workspace/management.ts";
import { WorkspaceObject } from "../../../src/objects/workspace/workspace.ts";
import type { Usage } from "../../../src/workspace/usage.ts";
import { type Answer, bearer, call } from "../accounts/support.ts";
import { newKey, newProject } from "../projects/support.ts";
import { by, newUser } from "../workspaces/support.ts";

let user: Awaited<ReturnType<typeof newUser>>;
let key: Record<string, string>;

beforeAll(async () => {
  user = await newUser();
  const { accessToken, workspaceId, userId } = user;
  const owner = { userId, workspaceId, headers: { ...bearer(accessToken), "X-Workspace-Id": workspaceId } };
  key = bearer((await newKey(owner, await newProject(owner))).secret);
});

const removed: (() => void)[] = [];

/** Simulates an object of a version without the method. */
function without(method: "manage" | "usage" | "recent" | "recentCounts"): void {
  for (let owner: object = WorkspaceObject.prototype; method in owner; owner = Object.getPrototypeOf(owner)) {
    const own = Object.getOwnPropertyDescriptor(owner, method);
    if (!own) continue;
    Reflect.deleteProperty(owner, method);
    removed.push(() => Object.defineProperty(owner, method, own));
  }
}

afterEach(() => {
  vi.restoreAllMocks();
  for (const restore of removed.splice(0)) restore();
});

const usage = () => by(user, `/workspaces/${user.workspaceId}/usage`);
const query = () => call("/logger/query", { body: {}, headers: key });
const stats = () => call("/logger/stats", { body: { interval: "1d" }, headers: key });

/** Simulates an object of a version whose usage, or a part of it, lacks a member. */
function withoutMember(member: string, partOf: (usage: Usage) => object): void {
  const { run } = MemberManagement.prototype;
  vi.spyOn(MemberManagement.prototype, "run").mockImplementation(async function (this: MemberManagement, asked) {
    const answer = await run.call(this, asked);
    // SAFETY: only the usage is asked for meanwhile.
    if (answer.ok) Reflect.deleteProperty(partOf(answer.value as Usage), member);
    return answer as never;
  });
}

function expectUnavailable(answer: Answer): void {
  expect([answer.status, answer.code, answer.headers.get("Retry-After")]).toEqual([503, "SERVICE_UNAVAILABLE", "1"]);
}

describe("a router that is newer than the object it calls", () => {
  it.each([
    ["usage", usage],
    ["recent", query],
    ["recentCounts", stats],
  ] as const)("returns a retryable error if the object has no %s yet", async (method, ask) => {
    without(method);
    if (method === "usage") without("manage");
    expectUnavailable(await ask());
  });

  it.each(["watermarks", "recent", "flush"])("returns 503 if usage has no %s yet", async (member) => {
    withoutMember(member, (answer) => answer);
    expectUnavailable(await usage());
  });

  it.each(["lastAt", "setAside"])("returns 503 if the flush of usage has no %s yet", async (member) => {
    withoutMember(member, ({ flush }) => flush);
    expectUnavailable(await usage());
  });

  it.each(["flushed", "oldest"])("returns 503 if a page of batches has no %s yet", async (member) => {
    const whole = WorkspaceObject.prototype.recent;
    vi.spyOn(WorkspaceObject.prototype, "recent").mockImplementation(async function (this: WorkspaceObject, scan) {
      const answer = await whole.call(this, scan);
      if (answer.ok) Reflect.deleteProperty(answer.value, member);
      return answer;
    });
    expectUnavailable(await query());
  });

  it("gets its answer from an object of its version", async () => {
    for (const ask of [usage, query, stats]) expect((await ask()).status).toBe(200);
  });
});
