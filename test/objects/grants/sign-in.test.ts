import { runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { deliver, mailedToken, mailsTo } from "../accounts/mail-support.ts";
import { bearer, call, callWith, dump, settings, workspaceStub } from "../accounts/support.ts";
import { newIp } from "../client-ips.ts";
import { onSql } from "../ingest/support.ts";
import { callTool, column, rpc } from "../mcp/support.ts";
import {
  authorize,
  clientId,
  consent,
  exchange,
  newOwner,
  type Owner,
  post,
  RESOURCE,
  refresh,
  requestOf,
  signIn,
  tokensIn,
} from "./support.ts";

const INVALID_GRANT = { status: 400, body: { error: "invalid_grant" } };
const HOUR_MS = 3_600_000;
const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
let owner: Owner;

beforeAll(async () => {
  owner = await newOwner();
});

/** Whether an access token is accepted. */
async function isAccepted(access: string): Promise<boolean> {
  const { status } = await rpc(access, list);
  expect([200, 401]).toContain(status);
  return status === 200;
}

/** Moves the times of a workspace's grants and tokens back. */
function age(workspaceId: string, ms: number): Promise<void> {
  return onSql(workspaceId, (sql) => {
    sql.exec(
      "UPDATE grants SET created_at = created_at - ?1, refreshed_at = refreshed_at - ?1, code_expires_at = code_expires_at - ?1",
      ms,
    );
    sql.exec("UPDATE grant_tokens SET expires_at = expires_at - ?", ms);
  });
}

describe("metadata", () => {
  const json = async (path: string) => {
    const response = await exports.default.fetch(new Request(`http://taffrail.test${path}`));
    return { status: response.status, origin: response.headers.get("Content-Type"), body: await response.json() };
  };

  it("21.3: the resource names its authorization server at the exact path, and the challenge of a 401 leads there", async () => {
    const path = "/.well-known/oauth-protected-resource/mcp";
    expect((await json(path)).body).toMatchObject({
      resource: RESOURCE,
      authorization_servers: [settings.BASE_URL],
      scopes_supported: ["logs:read", "views:write", "alerts:write"],
    });
    const refused = await rpc(null, list);
    expect([refused.status, refused.headers.get("WWW-Authenticate")]).toEqual([
      401,
      `Bearer realm="taffrail", scope="logs:read", resource_metadata="${settings.BASE_URL}${path}"`,
    ]);
    for (const token of ["nonsense", "oa_nonsense", `oa_${"0".repeat(48)}`]) {
      expect((await rpc(token, list)).headers.get("WWW-Authenticate")).toContain('error="invalid_token"');
    }
  });

  it("21.3: the server supports S256 alone, `iss`, and metadata documents", async () => {
    expect((await json("/.well-known/oauth-authorization-server")).body).toMatchObject({
      issuer: settings.BASE_URL,
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: ["none"],
    });
  });

  it("21.3: an authorization request goes to the console with its query, and GET changes nothing", async () => {
    const response = await exports.default.fetch(
      new Request("http://taffrail.test/oauth/authorize?client_id=x&state=%2F%0d", { redirect: "manual" }),
    );
    expect([response.status, response.headers.get("Location")]).toEqual([
      302,
      `${settings.BASE_URL}/auth/consent?client_id=x&state=%2F%0d`,
    ]);
  });
});

describe("consent", () => {
  it("21.3: shows the client and its receiver, and where a refusal goes", async () => {
    const { request } = await requestOf();
    const answer = await call("/oauth/requests", { headers: bearer(owner.accessToken), body: { request } });
    expect(answer.data).toMatchObject({
      valid: true,
      client: { name: "Agent", host: null, receiver: "this computer" },
      refuseUrl: expect.stringContaining("error=access_denied"),
    });
  });

  it("21.3: an agent reads the projects that it was granted, and no others", async () => {
    const [one, two] = owner.projects;
    const all = await signIn(owner);
    const some = await signIn(owner, { projectIds: [one] });
    const found = async (access: string, args: object = {}) =>
      (await callTool(access, "search_logs", { query: "level:error", ...args })).data.matched;
    expect([await found(all.access), await found(some.access)]).toEqual([2, 1]);
    expect([await found(all.access, { project: "two" }), await found(some.access, { project: one })]).toEqual([1, 1]);
    const foreign = await callTool(some.access, "search_logs", { query: "*", project: two });
    expect([foreign.isError, foreign.text]).toEqual([true, "project: Not found. `describe` lists the projects."]);
    const described = await callTool(some.access, "describe");
    expect(described.text).not.toContain(two);
    const { workspaceId } = owner;
    const third = z.object({ id: z.string() }).parse(
      (
        await call("/projects", {
          headers: { ...bearer(owner.accessToken), "X-Workspace-Id": workspaceId },
          body: { name: "three" },
        })
      ).data,
    );
    const several = await signIn(owner, { projectIds: [one, third.id] });
    expect(await found(several.access)).toBe(1);
    expect(column((await callTool(several.access, "describe")).data.projects as Record<string, unknown>, "id")).toEqual(
      [one, third.id],
    );
  });

  it.each([
    [
      "scopes that the client did not ask for",
      { scopes: ["logs:read", "views:write"], change: { scope: "logs:read" } },
      400,
    ],
    ["scopes without reading", { scopes: ["views:write"] }, 400],
    ["no scope", { scopes: [] }, 400],
    ["unknown scopes", { scopes: ["logs:read", "logs:write"] }, 400],
    ["projects that do not exist", { projectIds: ["proj_0123456789Ab"] }, 404],
    ["no project", { projectIds: [] }, 400],
    ["PKCE by plain", { change: { code_challenge_method: "plain" } }, 400],
    ["another redirect URI", { change: { redirect_uri: "https://evil.example.com/" } }, 400],
    ["a client that is not registered", { change: { client_id: "cl_x" } }, 400],
    ["a client at a private address (SSRF)", { change: { client_id: "https://169.254.169.254/latest" } }, 400],
    ["a foreign audience", { change: { resource: "https://other.example.com/mcp" } }, 400],
  ] as const)("21.3: is refused for %s", async (_what, wanted, status) => {
    const { answer } = await consent(owner, wanted);
    expect(answer.status).toBe(status);
  });

  it("21.3: needs the user's own access token: a cookie, an API key and an agent's token do not count (CSRF)", async () => {
    const { access } = await signIn(owner);
    const { request } = await requestOf();
    const body = { request, scopes: ["logs:read"], projectIds: null };
    const path = `/workspaces/${owner.workspaceId}/grants`;
    for (const headers of [{}, { Cookie: `session=${owner.accessToken}` }, bearer(access)]) {
      expect((await call(path, { headers, body })).status).toBe(401);
      expect((await call("/oauth/requests", { headers, body: { request } })).status).toBe(401);
    }
    const stranger = await newOwner();
    expect((await call(path, { headers: bearer(stranger.accessToken), body })).status).toBe(404);
  });

  it("21.3: gives no more than the role of the member has, at any time", async () => {
    const viewer = await newOwner();
    const member = { ...viewer, workspaceId: owner.workspaceId };
    await onSql(owner.workspaceId, (sql) =>
      sql.exec("INSERT INTO members (user_id, role, added_at) VALUES (?, 'viewer', 1)", viewer.userId),
    );
    expect((await consent(member, { scopes: ["logs:read", "views:write"] })).answer.status).toBe(403);
    expect(await isAccepted((await signIn(member)).access)).toBe(true);
  });
});

describe("a metadata document", () => {
  const ID = "https://app.example.com/client.json";
  const document = { client_id: ID, client_name: "App", redirect_uris: ["https://app.example.com/cb"] };
  const open = async (outbound: (url: string) => Promise<Response>, id = ID) => {
    const { request } = await requestOf({ client_id: id, redirect_uri: "https://app.example.com/cb" });
    const OUTBOUND = { fetch: outbound };
    return callWith({ OUTBOUND }, "/oauth/requests", { headers: bearer(owner.accessToken), body: { request } });
  };

  it("21.3: makes its URL a client, whose host is shown", async () => {
    const answer = await open(() => Promise.resolve(Response.json(document)));
    expect(answer.data).toMatchObject({
      valid: true,
      client: { name: "App", host: "app.example.com", receiver: "app.example.com" },
    });
    // Kept: not fetched again.
    const again = await open(() => Promise.reject(new Error("must not be fetched")));
    expect(again.data).toMatchObject({ valid: true });
  });

  it("21.3: is fetched for signed-in users alone, and through the network that reaches public addresses alone", async () => {
    const fetched: string[] = [];
    const OUTBOUND = {
      fetch: (url: string) => {
        fetched.push(url);
        return Promise.reject(new Error("private"));
      },
    };
    const id = "https://rebinding.example.com/client.json";
    const { request } = await requestOf({ client_id: id });
    expect((await callWith({ OUTBOUND }, "/oauth/requests", { body: { request } })).status).toBe(401);
    expect(fetched).toEqual([]);
    const headers = bearer(owner.accessToken);
    const answer = await callWith({ OUTBOUND }, "/oauth/requests", { headers, body: { request } });
    expect([fetched, answer.data]).toEqual([
      [id],
      expect.objectContaining({ valid: false, refuseUrl: null, message: expect.stringContaining("public address") }),
    ]);
    for (const bad of ["https://127.0.0.1/c", "https://10.0.0.1/c", "https://[::1]/c", "http://app.example.com/c"]) {
      const refused = await open(OUTBOUND.fetch, bad);
      expect(refused.data).toMatchObject({ valid: false, refuseUrl: null });
    }
    expect(fetched).toHaveLength(1);
  });
});

describe("a code", () => {
  it("21.3: is exchanged once; a second time ends the grant", async () => {
    const authorized = await authorize(owner);
    const tokens = tokensIn(await exchange(authorized));
    expect(await isAccepted(tokens.access)).toBe(true);
    expect(await exchange(authorized)).toMatchObject(INVALID_GRANT);
    expect(await isAccepted(tokens.access)).toBe(false);
    expect(await refresh(tokens.refresh)).toMatchObject(INVALID_GRANT);
  });

  it("21.3: of 10 exchanges at the same time at most one succeeds", async () => {
    const authorized = await authorize(owner);
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(authorized)));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
  });

  it.each([
    ["another verifier (code injection)", { code_verifier: "x".repeat(43) }],
    ["another redirect URI", { redirect_uri: "http://127.0.0.1:5001/cb" }],
    ["another client", { client_id: "https://evil.example.com/client.json" }],
  ])("21.3: is used up by %s", async (_what, change) => {
    const authorized = await authorize(owner);
    expect(await exchange(authorized, change)).toMatchObject(INVALID_GRANT);
    expect(await exchange(authorized)).toMatchObject(INVALID_GRANT);
  });

  it("21.3: is for one resource, for a minute, and for a member", async () => {
    const authorized = await authorize(owner);
    const foreign = await exchange(authorized, { resource: "https://other.example.com/mcp" });
    expect(foreign).toMatchObject({ status: 400, body: { error: "invalid_target" } });
    await age(owner.workspaceId, 60_001);
    expect(await exchange(authorized)).toMatchObject(INVALID_GRANT);
  });

  it.each([
    ["no verifier", { code_verifier: "" }, "invalid_request"],
    ["a short verifier", { code_verifier: "short" }, "invalid_request"],
    ["no redirect URI", { redirect_uri: "" }, "invalid_request"],
    ["no client", { client_id: "" }, "invalid_request"],
    ["a malformed code", { code: "oc_x" }, "invalid_grant"],
    ["the grant type password", { grant_type: "password" }, "unsupported_grant_type"],
  ])("21.3: is refused with %s", async (_what, change, error) => {
    expect(await exchange({ code: "oc_x", verifier: "v".repeat(43) }, change)).toMatchObject({
      status: 400,
      body: { error },
    });
  });
});

describe("refresh tokens", () => {
  it("21.3: R1: rotate; the earlier access token stays valid until it expires", async () => {
    const first = await signIn(owner);
    const second = tokensIn(await refresh(first.refresh));
    expect(second.refresh).not.toBe(first.refresh);
    expect([await isAccepted(first.access), await isAccepted(second.access)]).toEqual([true, true]);
    tokensIn(await refresh(second.refresh));
  });

  it("21.3: R4: one that is presented again ends the grant, the unused successor too, and no other grant", async () => {
    const [first, other] = [await signIn(owner), await signIn(owner)];
    const second = tokensIn(await refresh(first.refresh));
    expect(await refresh(first.refresh)).toMatchObject(INVALID_GRANT);
    expect(await refresh(second.refresh)).toMatchObject(INVALID_GRANT);
    expect([await isAccepted(first.access), await isAccepted(second.access), await isAccepted(other.access)]).toEqual([
      false,
      false,
      true,
    ]);
    const path = `/workspaces/${owner.workspaceId}/audit?action=grant.end`;
    const audit = await call(path, { headers: bearer(owner.accessToken) });
    expect(JSON.stringify(audit.data)).toContain("reuse of a refresh_token");
  });

  it("21.3: R11: reuse is mailed to the user of a confirmed address, once an hour", async () => {
    const token = await mailedToken(owner.email, "verify-email");
    expect((await call("/auth/verify-email", { body: { token } })).status).toBe(200);
    for (let time = 0; time < 2; time++) {
      const first = await signIn(owner);
      tokensIn(await refresh(first.refresh));
      expect(await refresh(first.refresh)).toMatchObject(INVALID_GRANT);
    }
    await deliver(owner.userId);
    expect((await mailsTo(owner.email, "notice")).map(({ subject }) => subject)).toEqual([
      "The access of one of your agents was ended",
    ]);
  });

  it("21.3: R3: of 10 presentations at the same time one succeeds at most, and the grant has ended", async () => {
    const { refresh: token, access } = await signIn(owner);
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(token)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await isAccepted(access)).toBe(false);
  });

  it("21.3: R6: a forged, a mangled and another client's token change nothing", async () => {
    const tokens = await signIn(owner);
    const mangled = `${tokens.refresh.slice(0, -1)}${tokens.refresh.endsWith("A") ? "B" : "A"}`;
    for (const token of [mangled, "or_x", tokens.access]) expect(await refresh(token)).toMatchObject(INVALID_GRANT);
    expect(await refresh(tokens.refresh, { client_id: "cl_other" })).toMatchObject(INVALID_GRANT);
    tokensIn(await refresh(tokens.refresh));
  });

  it("21.3: R7: end after 30 days without use and 90 days in all; access tokens after an hour", async () => {
    const idle = await newOwner();
    const tokens = await signIn(idle);
    await age(idle.workspaceId, HOUR_MS);
    const expired = await rpc(tokens.access, list);
    expect([expired.status, expired.body.error]).toEqual([
      401,
      expect.objectContaining({ data: expect.objectContaining({ code: "ACCESS_TOKEN_EXPIRED" }) }),
    ]);
    const second = tokensIn(await refresh(tokens.refresh));
    await age(idle.workspaceId, 30 * 24 * HOUR_MS);
    expect(await refresh(second.refresh)).toMatchObject(INVALID_GRANT);
    let third = await signIn(idle);
    for (let week = 0; week < 12; week++) {
      await age(idle.workspaceId, 7 * 24 * HOUR_MS);
      third = tokensIn(await refresh(third.refresh));
    }
    await age(idle.workspaceId, 7 * 24 * HOUR_MS);
    expect(await refresh(third.refresh)).toMatchObject(INVALID_GRANT);
  });

  it("21.3: R12: a dump of the object's storage has no text that is accepted as a token", async () => {
    const tokens = await signIn(owner);
    const text = await runInDurableObject(workspaceStub(owner.workspaceId), (_, { storage }) =>
      JSON.stringify(dump(storage.sql)),
    );
    for (const token of [tokens.access, tokens.refresh]) expect(text.includes(token)).toBe(false);
    const hashes = await onSql(owner.workspaceId, (sql) =>
      sql.exec<{ hash: string }>("SELECT hash FROM grant_tokens").toArray(),
    );
    for (const { hash } of hashes.slice(0, 3)) expect((await rpc(hash, list)).status).toBe(401);
  });

  it("do not get wider scopes or another resource", async () => {
    const tokens = await signIn(owner);
    expect(await refresh(tokens.refresh, { scope: "logs:read alerts:write" })).toMatchObject({
      body: { error: "invalid_scope" },
    });
    expect(await refresh(tokens.refresh, { resource: "https://other.example.com" })).toMatchObject({
      body: { error: "invalid_target" },
    });
    const answer = await refresh(tokens.refresh, { scope: "logs:read", resource: RESOURCE });
    expect(answer.body).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "logs:read" });
    expect(answer.headers.get("Cache-Control")).toBe("no-store");
  });
});

describe("a grant ends", () => {
  it("21.3: by revocation of either token, from the next request on, and only for its own client", async () => {
    for (const kind of ["access", "refresh"] as const) {
      const tokens = await signIn(owner);
      expect((await post("/oauth/revoke", { token: tokens[kind], client_id: "cl_other" })).status).toBe(200);
      expect(await isAccepted(tokens.access)).toBe(true);
      const revoked = await post("/oauth/revoke", { token: tokens[kind], client_id: await clientId() });
      expect([revoked.status, await isAccepted(tokens.access)]).toEqual([200, false]);
      expect((await post("/oauth/revoke", { token: tokens[kind] })).status).toBe(200);
    }
    expect((await post("/oauth/revoke", { token: "nonsense" })).status).toBe(200);
    expect((await post("/oauth/revoke", {})).status).toBe(400);
  });

  it("21.3: by its user, who sees it in a list, and by an admin, but by no other member", async () => {
    const own = await newOwner();
    const tokens = await signIn(own, { projectIds: [own.projects[1]] });
    const listed = await call("/oauth/grants", { headers: bearer(own.accessToken) });
    const { items } = z.object({ items: z.array(z.looseObject({ id: z.string() })) }).parse(listed.data);
    expect(items).toEqual([
      expect.objectContaining({
        workspaceId: own.workspaceId,
        client: { name: "Agent", host: null, receiver: "this computer" },
        scopes: ["logs:read"],
        projects: [{ id: own.projects[1], name: "two" }],
      }),
    ]);
    const other = await newOwner();
    await onSql(own.workspaceId, (sql) =>
      sql.exec("INSERT INTO members (user_id, role, added_at) VALUES (?, 'member', 1)", other.userId),
    );
    const path = `/workspaces/${own.workspaceId}/grants`;
    expect((await call(path, { headers: bearer(other.accessToken) })).data).toEqual({ items: [] });
    const remove = (accessToken: string) =>
      call(`${path}/${items[0]?.id}`, { method: "DELETE", headers: bearer(accessToken) });
    expect((await remove(other.accessToken)).status).toBe(404);
    expect(await isAccepted(tokens.access)).toBe(true);
    const others = await signIn({ ...other, workspaceId: own.workspaceId });
    const all = z.object({ items: z.array(z.looseObject({ id: z.string(), email: z.string() })) });
    const seen = all.parse((await call(path, { headers: bearer(own.accessToken) })).data).items;
    expect(seen.map(({ email }) => email).sort()).toEqual([own.email, other.email].sort());
    expect((await remove(own.accessToken)).status).toBe(200);
    expect([await isAccepted(tokens.access), await isAccepted(others.access)]).toEqual([false, true]);
  });

  it("21.3: with the membership, and does not return with it", async () => {
    const [own, member] = [await newOwner(), await newOwner()];
    const add = () =>
      onSql(own.workspaceId, (sql) =>
        sql.exec("INSERT INTO members (user_id, role, added_at) VALUES (?, 'member', 1)", member.userId),
      );
    await add();
    const tokens = await signIn({ ...member, workspaceId: own.workspaceId });
    const path = `/workspaces/${own.workspaceId}/members/${member.userId}`;
    expect((await call(path, { method: "DELETE", headers: bearer(own.accessToken) })).status).toBe(200);
    expect(await isAccepted(tokens.access)).toBe(false);
    await add();
    expect(await isAccepted(tokens.access)).toBe(false);
    expect(await refresh(tokens.refresh)).toMatchObject(INVALID_GRANT);
  });

  it("21.3: with its last project", async () => {
    const own = await newOwner();
    const [one, two] = own.projects;
    const both = await signIn(own, { projectIds: [one, two] });
    const single = await signIn(own, { projectIds: [one] });
    const headers = { ...bearer(own.accessToken), "X-Workspace-Id": own.workspaceId };
    expect((await call(`/projects/${one}`, { method: "DELETE", headers })).status).toBe(200);
    expect([await isAccepted(single.access), await isAccepted(both.access)]).toEqual([false, true]);
    expect((await callTool(both.access, "search_logs", { query: "*" })).data.matched).toBe(1);
    expect((await call(`/projects/${two}`, { method: "DELETE", headers })).status).toBe(200);
    expect(await isAccepted(both.access)).toBe(false);
  });

  it("21.3: with the account, and with a purge of what another person made (O5)", async () => {
    const own = await newOwner();
    const tokens = await signIn(own);
    await workspaceStub(own.workspaceId).revokeKeysOf(own.userId, Date.now());
    expect(await isAccepted(tokens.access)).toBe(false);
    const again = await signIn(own);
    await workspaceStub(own.workspaceId).removeDeletedUser(own.userId);
    expect(await isAccepted(again.access)).toBe(false);
    expect(await refresh(again.refresh)).toMatchObject(INVALID_GRANT);
  });

  it("21.3: the one that was used longest ago, above 50 of a member", async () => {
    const own = await newOwner();
    const tokens = await signIn(own);
    await onSql(own.workspaceId, (sql) => {
      for (let n = 0; n < 49; n++) {
        sql.exec(
          `INSERT INTO grants SELECT 'grant_copy' || ?1, user_id, client_id, client_name, client_host, redirect_uri, resource, scopes, projects, key,
             counter, 'copy' || ?1, code_challenge, code_expires_at, created_at, refreshed_at + 1000, last_used_at FROM grants LIMIT 1`,
          n,
        );
      }
    });
    const last = await signIn(own);
    expect([await isAccepted(tokens.access), await isAccepted(last.access)]).toEqual([false, true]);
  });
});

describe("an agent's token", () => {
  it("21.3: reads Loki's API by Bearer and as the password of Basic, and works on no other route", async () => {
    const [one] = owner.projects;
    const { access } = await signIn(owner, { projectIds: [one] });
    const path = "/loki/api/v1/query_range?query=%7Blevel%3D%22error%22%7D&since=1h";
    for (const authorization of [`Bearer ${access}`, `Basic ${btoa(`agent:${access}`)}`]) {
      const response = await exports.default.fetch(
        new Request(`http://taffrail.test${path}`, { headers: { Authorization: authorization } }),
      );
      const text = await response.text();
      expect([response.status, text.includes("in one"), text.includes("in two")]).toEqual([200, true, false]);
    }
    const headers = { ...bearer(access), "X-Workspace-Id": owner.workspaceId };
    for (const [elsewhere, body] of [
      ["/logger/query", {}],
      [`/logger/${one}/log`, { message: "m" }],
      ["/projects", undefined],
      ["/auth/me", undefined],
      [`/workspaces/${owner.workspaceId}`, undefined],
      [`/workspaces/${owner.workspaceId}/audit`, undefined],
    ] as const) {
      expect([elsewhere, (await call(elsewhere, { headers, body })).status]).toEqual([elsewhere, 401]);
    }
  });

  it("21.3: counts by grant under the limit of POST /logger/query, and each call is in the audit", async () => {
    const own = await newOwner();
    const [first, second] = [await signIn(own), await signIn(own)];
    const rules = [{ method: "POST", path: "/logger/query", limit: 2, windowSeconds: 60 }];
    const limits = { method: "PUT", headers: bearer(own.accessToken), body: { rules } };
    expect((await call(`/workspaces/${own.workspaceId}/rate-limits`, limits)).status).toBe(200);
    await callTool(first.access, "search_logs", { query: "level:error" });
    expect((await rpc(first.access, list)).headers.get("X-RateLimit-Remaining")).toBe("0");
    const refused = await rpc(first.access, list);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect((await rpc(second.access, list)).status).toBe(200);
    const audit = await call(`/workspaces/${own.workspaceId}/audit?action=agent.call`, {
      headers: bearer(own.accessToken),
    });
    expect(audit.data).toMatchObject({
      items: [{ actor: expect.stringMatching(/^grant_/), after: { tool: "search_logs", question: "level:error" } }],
    });
  });
});

describe("floods", () => {
  it("21.3: 20 registrations an hour from one client IP, which store nothing", async () => {
    const body = { client_name: "Flood", redirect_uris: ["http://127.0.0.1/cb"] };
    const statuses: number[] = [];
    const ip = newIp();
    for (let n = 0; n < 21; n++) {
      const response = await exports.default.fetch(
        new Request("http://taffrail.test/oauth/register", {
          method: "POST",
          headers: { "Content-Type": "application/json", "CF-Connecting-IP": ip },
          body: JSON.stringify(body),
        }),
      );
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([...Array(20).fill(201), 429]);
  });

  it.each([
    [{ redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
    [{ redirect_uris: [] }, "invalid_redirect_uri"],
    [{}, "invalid_redirect_uri"],
    [[], "invalid_client_metadata"],
    [{ redirect_uris: ["http://127.0.0.1/"], client_name: {} }, "invalid_client_metadata"],
  ])("21.3: refuses the registration %j", async (body, error) => {
    expect(await post("/oauth/register", body as Record<string, unknown>, true)).toMatchObject({
      status: 400,
      body: { error },
    });
  });
});
