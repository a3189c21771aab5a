import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { bearer, call } from "../accounts/support.ts";
import { addKey } from "../ingest/support.ts";
import { callTool, column, rpc, type ToolAnswer } from "../mcp/support.ts";
import { newOwner, type Owner, signIn } from "./support.ts";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const RULE = {
  name: "Errors",
  query: "level:error | count by service",
  condition: { kind: "threshold", value: 1 },
  window: "1m",
};
const ALL = ["logs:read", "views:write", "alerts:write"];
let owner: Owner;
let reads: string;
let writes: string;

beforeAll(async () => {
  owner = await newOwner();
  reads = (await signIn(owner)).access;
  writes = (await signIn(owner, { scopes: ALL })).access;
});

async function namesFor(token: string): Promise<string[]> {
  const result = z.looseObject({ tools: z.array(z.looseObject({ name: z.string() })) });
  return result.parse((await rpc(token, list)).body.result).tools.map(({ name }) => name);
}

function guideOf({ data }: ToolAnswer): string {
  return z.array(z.string()).parse(data.guide).join("\n");
}

const confirmIn = (answer: ToolAnswer) => /confirm: (\S+)/.exec(guideOf(answer))?.[1] ?? "";

describe("tools that change something", () => {
  it("21.2: are listed for their scopes only, and say that they change something", async () => {
    const names = await namesFor(reads);
    expect(names).toContain("alerts");
    expect(names).not.toContain("save_view");
    expect(await namesFor(writes)).toEqual([...names, "save_view", "create_alert"]);
    const key = await addKey({ ...owner, ownerId: owner.userId, projectId: owner.projects[0] }, ["logs:read"]);
    expect(await namesFor(key.secret)).toEqual(names);
    const tools = z.object({ tools: z.array(z.looseObject({ name: z.string(), annotations: z.looseObject({}) })) });
    const found = tools.parse((await rpc(writes, list)).body.result).tools;
    for (const { name, annotations } of found) {
      expect([name, annotations.readOnlyHint]).toEqual([name, name !== "save_view" && name !== "create_alert"]);
    }
  });

  it("21.3: a call without the scope is 403 with a challenge that names all scopes that the client should ask for", async () => {
    const body = { ...list, method: "tools/call", params: { name: "create_alert", arguments: RULE } };
    const refused = await rpc(reads, body);
    expect(refused.status).toBe(403);
    expect(refused.headers.get("WWW-Authenticate")).toMatch(
      /^Bearer realm="taffrail", error="insufficient_scope", scope="logs:read alerts:write", resource_metadata="[^"]+mcp"$/,
    );
    const key = await addKey({ ...owner, ownerId: owner.userId, projectId: owner.projects[0] }, ["logs:read"]);
    expect((await rpc(key.secret, body)).status).toBe(403);
  });

  it("21.2: save_view saves what the console shows, once for a name, with an item in the audit", async () => {
    const view = { name: "Errors", query: "level:error", last: "24h", project: owner.projects[0] };
    const saved = await callTool(writes, "save_view", view);
    expect([saved.isError, guideOf(saved)]).toEqual([false, expect.stringMatching(/^saved: view_/)]);
    const headers = bearer(owner.accessToken);
    const views = await call(`/workspaces/${owner.workspaceId}/views`, { headers });
    expect(views.data).toMatchObject({
      items: [
        {
          name: "Errors",
          query: "level:error",
          range: { last: "24h" },
          projectId: owner.projects[0],
          createdBy: owner.userId,
        },
      ],
    });
    expect((await callTool(writes, "save_view", view)).isError).toBe(true);
    for (const wrong of [{ query: "level:>=" }, { last: "soon" }, { project: "proj_0123456789Ab" }, { name: "" }]) {
      expect([wrong, (await callTool(writes, "save_view", { ...view, name: "Other", ...wrong })).isError]).toEqual([
        wrong,
        true,
      ]);
    }
    const audit = await call(`/workspaces/${owner.workspaceId}/audit?action=view`, { headers });
    expect(audit.data).toMatchObject({ items: [{ action: "view.create", actor: owner.userId }] });
  });

  it("21.2: create_alert replays first, and creates only what was replayed", async () => {
    const rule = { ...RULE, project: owner.projects[0] };
    const preview = await callTool(writes, "create_alert", rule);
    expect(guideOf(preview)).toMatch(/would_have_fired: \d+ times/);
    const confirm = confirmIn(preview);
    const headers = { ...bearer(owner.accessToken), "X-Workspace-Id": owner.workspaceId };
    const listed = async () => (await call(`/projects/${owner.projects[0]}/alerts`, { headers })).data;
    expect(await listed()).toEqual({ items: [], revision: expect.any(String) });
    for (const other of [
      { window: "2m" },
      { condition: { kind: "threshold", value: 2 } },
      { query: "level:error" },
      { project: owner.projects[1] },
      { confirm: `${confirm}x` },
      { confirm: "x" },
      { confirm: confirm.replace(/^\d+/, String(Date.now() + 3_600_000)) },
      { confirm: confirm.replace(/^\d+/, String(Date.now() - 1)) },
    ]) {
      const refused = await callTool(writes, "create_alert", { ...rule, confirm, ...other });
      expect([other, refused.isError]).toEqual([other, true]);
    }
    expect(await listed()).toEqual({ items: [], revision: expect.any(String) });
    const created = await callTool(writes, "create_alert", { ...rule, confirm });
    expect([created.isError, guideOf(created)]).toEqual([false, expect.stringContaining("created: alert_")]);
    expect(await listed()).toMatchObject({ items: [{ name: "Errors", createdBy: owner.userId, window: "1m" }] });
    expect((await callTool(writes, "create_alert", { ...rule, confirm })).isError).toBe(true);
    const rules = await callTool(reads, "alerts");
    expect(column(rules.data.rules as Record<string, unknown>, "name")).toEqual(["Errors"]);
    expect(column(rules.data.rules as Record<string, unknown>, "state")).toEqual(["ok"]);
    for (const wrong of [
      { query: "level:error time:1h" },
      { condition: { kind: "never" } },
      { window: "1s" },
      { condition: 1 },
    ]) {
      expect((await callTool(writes, "create_alert", { ...rule, name: "x", ...wrong })).isError).toBe(true);
    }
  });

  it("21.3: a grant of some projects changes these alone", async () => {
    const own = await newOwner();
    const [one, two] = own.projects;
    const single = (await signIn(own, { scopes: ALL, projectIds: [one] })).access;
    expect((await callTool(single, "save_view", { name: "One", query: "*" })).isError).toBe(false);
    expect((await callTool(single, "save_view", { name: "Two", query: "*", project: two })).isError).toBe(true);
    expect((await callTool(single, "create_alert", { ...RULE, project: two })).isError).toBe(true);
    const headers = bearer(own.accessToken);
    const views = await call(`/workspaces/${own.workspaceId}/views`, { headers });
    expect(views.data).toMatchObject({ items: [{ name: "One", projectId: one }] });
  });
});
