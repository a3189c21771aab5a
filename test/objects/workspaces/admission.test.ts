import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { app } from "../../../src/routes/app.ts";
import { type Answer, answerOf, bearer, type Call, call, callWith, claimsOf, userStub } from "../accounts/support.ts";
import { newIp } from "../client-ips.ts";
import { onSql } from "../ingest/support.ts";
import { newKey, newProject } from "../projects/support.ts";
import { addMember, by, newMember, newUser, newWorkspace, remove, setRole, type User } from "./support.ts";

// Attempts to act without the right to, to be counted twice or not at all, and to learn what others own.

let owner: User;
let workspaceId: string;

beforeAll(async () => {
  owner = await newUser();
  workspaceId = await newWorkspace(owner);
});

const headersOf = (user: User) => ({ ...bearer(user.accessToken), "X-Workspace-Id": workspaceId });
const inWorkspace = (rest = "") => `/workspaces/${workspaceId}${rest}`;
const remaining = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));

function ask(user: User, path: string, options: Call = {}, bindings: object = {}): Promise<Answer> {
  return callWith(bindings, path, { ...options, headers: { ...headersOf(user), ...options.headers } });
}

const namesOfProjects = () =>
  onSql(workspaceId, (sql) => sql.exec<{ name: string }>("SELECT name FROM projects ORDER BY num").toArray());

async function configuration(): Promise<unknown> {
  const { data } = await ask(owner, inWorkspace("/rate-limits"));
  return [Reflect.get(Object(data), "default"), Reflect.get(Object(data), "rules")];
}

/**
 * Sends a request whose body arrives after the guard: `meanwhile` runs while the body is on its way.
 * @param waitMs milliseconds for which the rest of the body is held back
 */
async function askSlowly(
  user: User,
  path: string,
  { method = "POST", body }: { method?: string; body: object },
  waitMs: number,
  meanwhile: () => Promise<unknown>,
): Promise<Answer> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await meanwhile();
        await scheduler.wait(waitMs);
        controller.enqueue(bytes);
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const named = path.startsWith("/workspaces") ? bearer(user.accessToken) : headersOf(user);
  const headers = { ...named, "Content-Type": "application/json", "CF-Connecting-IP": newIp() };
  const ctx = createExecutionContext();
  const request = new Request(`http://taffrail.test${path}`, { method, headers, body: stream });
  const response = await app.fetch(request, env, ctx);
  await waitOnExecutionContext(ctx);
  return answerOf(response);
}

const logOut = async (user: User) => {
  const { sessionId } = await claimsOf(user.accessToken);
  expect(await userStub(user.userId).endSession(sessionId, sessionId)).toBe(true);
};

describe("a right that ends while the body of a request arrives", () => {
  it("R8: a session that ended does not act, however slowly the body arrives, and counts by client IP", async () => {
    const admin = await newMember(workspaceId, "admin");
    const before = await namesOfProjects();
    const created = await askSlowly(admin, "/projects", { body: { name: "late" } }, 1100, () => logOut(admin));
    expect([created.status, created.code, remaining(created)]).toEqual([401, "SESSION_REVOKED", 999]);
    expect(await namesOfProjects()).toEqual(before);
  });

  it("R8: a session that ended reads no logs, however slowly the body arrives", async () => {
    const viewer = await newMember(workspaceId, "viewer");
    const answer = await askSlowly(viewer, "/logger/query", { body: {} }, 1100, () => logOut(viewer));
    expect([answer.status, answer.code]).toEqual([401, "SESSION_REVOKED"]);
  });

  it("a valid session acts after a slow body, counted once", async () => {
    const admin = await newMember(workspaceId, "admin");
    const before = remaining(await ask(admin, "/projects"));
    const made = await askSlowly(admin, "/projects", { body: { name: "slow" } }, 1100, async () => undefined);
    expect([made.status, remaining(made)]).toEqual([201, before - 1]);
  });

  it.each([
    ["a removed member", "NOT_FOUND", (user: User) => remove(owner, workspaceId, user.userId)],
    ["a lowered role", "FORBIDDEN", (user: User) => setRole(owner, workspaceId, user.userId, "viewer")],
  ])("%s does not act", async (_, code, meanwhile) => {
    const admin = await newMember(workspaceId, "admin");
    const before = await configuration();
    const body = { rules: [], default: { limit: 1, windowSeconds: 60 } };
    const path = inWorkspace("/rate-limits");
    const answer = await askSlowly(admin, path, { method: "PUT", body }, 0, () => meanwhile(admin));
    expect(answer.code).toBe(code);
    expect(await configuration()).toEqual(before);
  });

  it("a key is not created in a project that was deleted", async () => {
    const as = { headers: headersOf(owner) };
    const projectId = await newProject({ ...owner, workspaceId, ...as });
    const body = { name: "k", scopes: ["logs:read"] };
    const answer = await askSlowly(owner, `/projects/${projectId}/keys`, { body }, 0, () =>
      ask(owner, `/projects/${projectId}`, { method: "DELETE" }),
    );
    expect([answer.status, answer.code]).toEqual([404, "NOT_FOUND"]);
  });

  it("a workspace that was deleted is not found, and nothing is written to it", async () => {
    const founder = await newUser();
    const path = `/workspaces/${await newWorkspace(founder)}`;
    const change = { method: "PATCH", body: { name: "x" } };
    const answer = await askSlowly(founder, path, change, 0, () => by(founder, path, { method: "DELETE" }));
    expect([answer.status, answer.code]).toEqual([404, "NOT_FOUND"]);
  });
});

describe("the order of refusals", () => {
  const faults: [string, Call, string][] = [
    ["invalid JSON", { body: "{" }, "VALIDATION_ERROR"],
    ["an invalid member", { body: { name: 7 } }, "VALIDATION_ERROR"],
    ["another media type", { body: "x", headers: { "Content-Type": "text/plain" } }, "UNSUPPORTED_MEDIA_TYPE"],
    ["a body that is too large", { body: { name: "x".repeat(300_000) } }, "PAYLOAD_TOO_LARGE"],
  ];

  it.each(faults)("%s is reported only to a member whose role and limit suffice", async (_, options, code) => {
    const [stranger, viewer, member] = [
      await newUser(),
      await newMember(workspaceId, "viewer"),
      await newMember(workspaceId, "member"),
    ];
    const codes = async (user: User) => (await ask(user, "/projects", { method: "POST", ...options })).code;
    expect([await codes(stranger), await codes(viewer), await codes(member)]).toEqual(["NOT_FOUND", "FORBIDDEN", code]);
    const before = await ask(owner, inWorkspace("/rate-limits"));
    const limits = { default: { limit: 1, windowSeconds: 60 }, rules: [] };
    expect((await ask(owner, inWorkspace("/rate-limits"), { method: "PUT", body: limits })).status).toBe(200);
    const refused = await ask(member, "/projects", { method: "POST", ...options });
    const restored = await ask(owner, inWorkspace("/rate-limits"), { method: "DELETE" });
    expect([before.status, refused.code, restored.status]).toEqual([200, "RATE_LIMITED", 200]);
  });

  it("a workspace of others and one that does not exist are refused alike", async () => {
    const [stranger, twin] = [await newUser(), await newUser()];
    const requests: [string, Call][] = [
      ["", {}],
      ["", { method: "PATCH", body: { name: "x" } }],
      ["/members", { body: { email: "a@example.com", role: "viewer" } }],
      [`/members/${owner.userId}`, { method: "PATCH", body: { role: "owner" } }],
      ["/violations", {}],
      ["", { method: "DELETE" }],
    ];
    for (const [rest, options] of requests) {
      const real = await by(stranger, inWorkspace(rest), options);
      const none = await by(twin, `/workspaces/ws_000000000000${rest}`, options);
      const shown = ({ status, text, headers }: Answer) => [
        status,
        text.replace(/"meta".*/, ""),
        headers.get("X-RateLimit-Limit"),
        headers.get("X-RateLimit-Remaining"),
      ];
      expect([rest, ...shown(real)]).toEqual([rest, ...shown(none)]);
      expect(real.status).toBe(404);
    }
  });
});

describe("the limit of a workspace", () => {
  it("admits exactly as many concurrent requests as are left, whatever their outcome", async () => {
    const founder = await newUser();
    const shared = await newWorkspace(founder);
    const headers = { ...bearer(founder.accessToken), "X-Workspace-Id": shared };
    const limits = { default: { limit: 7, windowSeconds: 3600 }, rules: [] };
    expect((await by(founder, `/workspaces/${shared}/rate-limits`, { method: "PUT", body: limits })).status).toBe(200);
    const left = remaining(await call("/projects", { headers }));
    expect(left).toBeGreaterThan(4);
    const kinds: [string, Call][] = [
      ["/projects", {}],
      ["/projects", { body: { name: "p" } }],
      ["/projects", { body: { name: 7 } }],
      ["/projects?cursor=x", {}],
      ["/projects/proj_000000000000", {}],
      [`/workspaces/${shared}/members/${founder.userId}`, { method: "DELETE" }],
      [`/workspaces/${shared}/members/${founder.userId}`, { method: "PATCH", body: { role: "owner" } }],
      [`/workspaces/${shared}/violations`, {}],
    ];
    const many = [...kinds, ...kinds, ...kinds];
    const answers = await Promise.all(many.map(([path, options]) => call(path, { ...options, headers })));
    const admitted = answers.filter(({ status }) => status !== 429);
    expect(admitted.filter(({ status }) => status >= 500)).toEqual([]);
    expect(admitted.map(remaining).sort()).toEqual([0, 1, 2, 3, 4, 5].slice(0, left));
  });

  it("is charged once by a HEAD request", async () => {
    const before = remaining(await ask(owner, inWorkspace()));
    const response = await app.fetch(
      new Request(`http://taffrail.test${inWorkspace()}`, { method: "HEAD", headers: headersOf(owner) }),
      env,
      createExecutionContext(),
    );
    expect([response.status, Number(response.headers.get("X-RateLimit-Remaining"))]).toEqual([200, before - 1]);
  });
});

/** Bindings with which a router calls workspace objects through `change`. */
function objectsSeenThrough(change: (stub: object, method: string, args: unknown[]) => unknown) {
  return {
    WORKSPACES: {
      idFromName: (name: string) => env.WORKSPACES.idFromName(name),
      get: (id: DurableObjectId) =>
        new Proxy(env.WORKSPACES.get(id), {
          get:
            (stub, method) =>
            (...args: unknown[]) =>
              change(stub, String(method), args),
        }),
    },
  };
}

describe("a call whose response is lost", () => {
  it("is neither repeated nor counted again: the change is made once", async () => {
    const calls: string[] = [];
    const lossy = objectsSeenThrough(async (stub, method, args) => {
      await Reflect.get(stub, method)(...args);
      calls.push(method);
      throw Object.assign(new Error("lost"), { retryable: true });
    });
    const left = remaining(await ask(owner, "/projects"));
    const before = await namesOfProjects();
    const answer = await ask(owner, "/projects", { body: { name: "once" } }, lossy);
    expect([answer.status, answer.code, ...calls]).toEqual([503, "SERVICE_UNAVAILABLE", "manage"]);
    expect(await namesOfProjects()).toEqual([...before, { name: "once" }]);
    expect(remaining(await ask(owner, "/projects"))).toBe(left - 2);
  });
});

describe("during a deploy", () => {
  it("a method that the object does not have asks the client for a retry", async () => {
    const older = objectsSeenThrough((stub, method, [first, ...more]) => {
      const renamed = method === "manage" ? { ...Object(first), method: "methodOfALaterVersion" } : first;
      return Reflect.get(stub, method)(renamed, ...more);
    });
    const answer = await ask(owner, "/projects", {}, older);
    expect([answer.status, answer.code]).toEqual([503, "SERVICE_UNAVAILABLE"]);
    expect(answer.headers.get("Retry-After")).toMatch(/^\d+$/);
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
    "the name %s is not a method of a workspace",
    async (name) => {
      const forged = objectsSeenThrough((stub, method, [first, ...more]) => {
        const renamed = method === "manage" ? { ...Object(first), method: name } : first;
        return Reflect.get(stub, method)(renamed, ...more);
      });
      expect((await ask(owner, "/projects", {}, forged)).status).toBe(503);
    },
  );
});

describe("making an owner", () => {
  it("is refused to an admin alike, whether or not the member may own another workspace", async () => {
    const admin = await newMember(workspaceId, "admin");
    const [free, full] = [await newMember(workspaceId, "member"), await newUser()];
    await newWorkspace(full);
    await addMember(workspaceId, full, "member");
    for (const { userId } of [free, full]) {
      const options = { method: "PATCH", body: { role: "owner" } };
      const answer = await ask(admin, inWorkspace(`/members/${userId}`), options, { MAX_OWNED_WORKSPACES: "1" });
      expect([answer.status, answer.code]).toEqual([403, "FORBIDDEN"]);
    }
  });

  it("is refused to an owner with 409 if the member owns the maximum number of workspaces", async () => {
    const full = await newUser();
    await newWorkspace(full);
    await addMember(workspaceId, full, "member");
    const options = { method: "PATCH", body: { role: "owner" } };
    const answer = await ask(owner, inWorkspace(`/members/${full.userId}`), options, { MAX_OWNED_WORKSPACES: "1" });
    expect([answer.status, answer.code]).toEqual([409, "CONFLICT"]);
  });
});

describe("two deletions of one workspace at the same time", () => {
  it("both end without a fault, and the workspace is gone", async () => {
    const founder = await newUser();
    const shared = await newWorkspace(founder);
    const path = `/workspaces/${shared}`;
    const answers = await Promise.all([1, 2].map(() => by(founder, path, { method: "DELETE" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404]);
    expect((await by(founder, path)).status).toBe(404);
  });
});

it("a key of an owner is no access token: it manages nothing, and counts by client IP", async () => {
  const projectId = await newProject({ ...owner, workspaceId, headers: headersOf(owner) });
  const { secret } = await newKey({ ...owner, workspaceId, headers: headersOf(owner) }, projectId);
  const headers = { ...bearer(secret), "X-Workspace-Id": workspaceId };
  for (const [path, options] of [
    ["/projects", {}],
    [`/projects/${projectId}`, { method: "DELETE" }],
    [inWorkspace("/members"), {}],
    [inWorkspace(), { method: "DELETE" }],
  ] as const) {
    const answer = await call(path, { ...options, headers });
    expect([path, answer.code]).toEqual([path, "INVALID_ACCESS_TOKEN"]);
  }
});
