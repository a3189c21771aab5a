import { runInDurableObject } from "cloudflare:test";
import { exports } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { acceptedKeys } from "../../../src/keys/api-key.ts";
import { WorkspaceObject } from "../../../src/objects/workspace/workspace.ts";
import { knownTerms } from "../../../src/routes/doors/key-terms.ts";
import { WORKSPACE_SCHEMA } from "../../../src/workspace/schema.ts";
import { evict, onSql, storedEntries, workspace } from "../ingest/support.ts";
import { takeBack } from "../older-version.ts";
import { as, type KeyOf, newKey, newOwner, newProject, type Owner, refusal } from "../projects/support.ts";

let owner: Owner;
let key: KeyOf;
beforeEach(async () => {
  owner = await newOwner();
  key = await newKey(owner, await newProject(owner));
});
afterEach(() => {
  vi.restoreAllMocks();
});

const pathOf = ({ projectId, keyId }: KeyOf = key) => `/projects/${projectId}/keys/${keyId}`;
const change = (body: object, of = key) => as(owner, pathOf(of), { method: "PATCH", body });

async function post(body: string, secret = key.secret): Promise<unknown> {
  const headers = { Authorization: `Bearer ${secret}`, "Content-Type": "application/x-ndjson" };
  const response = await exports.default.fetch(
    new Request("http://taffrail.test/ingest", { method: "POST", headers, body }),
  );
  expect(response.status).toBe(200);
  return response.json();
}

const messages = async () => (await storedEntries(owner.workspaceId)).map(({ entry }) => entry.message);
const record = JSON.stringify({ message: "usual", odd: "mapped" });

describe("PATCH /projects/{id}/keys/{keyId}", () => {
  it("changes name, mapping and dedupe, and shows them everywhere", async () => {
    const mapping = { message: ["odd", "a.b"], time: ["when"] };
    const changed = await change({ name: "drain", mapping, dedupe: "always" });
    expect([changed.status, changed.data]).toMatchObject([
      200,
      { id: key.keyId, name: "drain", mapping, dedupe: "always" },
    ]);
    expect((await change({ name: "again" })).data).toMatchObject({ name: "again", mapping, dedupe: "always" });
    expect((await change({ mapping: {} })).data).toMatchObject({ mapping: {}, dedupe: "always" });
    const { data } = await as(owner, `/projects/${key.projectId}/keys`);
    expect(data).toMatchObject({ items: [{ name: "again", mapping: {}, dedupe: "always" }] });
    const audit = await as(owner, `/workspaces/${owner.workspaceId}/audit?action=key.update`);
    expect(audit.data).toMatchObject({
      items: [
        { before: { mapping }, after: { mapping: {} } },
        { before: { name: "drain" }, after: { name: "again" } },
        {
          target: key.keyId,
          before: { name: "test", dedupe: "auto" },
          after: { name: "drain", mapping, dedupe: "always" },
        },
      ],
    });
    expect((await change({ mapping: {} })).status).toBe(200);
    expect((await as(owner, `/workspaces/${owner.workspaceId}/audit?action=key.update`)).data).toMatchObject({
      items: { length: 3 },
    });
  });

  it("finding 19: a request keeps the settings that it has learned, whatever the cache has", async () => {
    await change({ mapping: { message: ["odd"] } });
    vi.spyOn(knownTerms, "set").mockImplementation(() => {});
    vi.spyOn(knownTerms, "get").mockReturnValue(undefined);
    await post(record);
    vi.spyOn(acceptedKeys, "has").mockReturnValue(false);
    await post(`${record}\n`.repeat(10_000));
    expect(new Set(await messages())).toEqual(new Set(["mapped"]));
    expect(await messages()).toHaveLength(10_001);
  });

  it("a successor has the settings of its key", async () => {
    await change({ mapping: { message: ["odd"] }, dedupe: "never" });
    const { data } = await as(owner, `${pathOf()}/rotate`, { body: {} });
    expect(data).toMatchObject({ mapping: { message: ["odd"] }, dedupe: "never" });
    await post(record, String(Reflect.get(Object(data), "secret")));
    expect(await messages()).toEqual(["mapped"]);
  });

  it.each([
    {},
    { scopes: ["logs:read"] },
    { dedupe: "sometimes" },
    { mapping: { message: [] } },
    { mapping: { message: "odd" } },
    { mapping: { title: ["odd"] } },
    { mapping: { message: Array(11).fill("a") } },
    { mapping: { message: ["x".repeat(101)] } },
  ])("refuses %j", async (body) => {
    expect(refusal(await change(body))).toEqual([400, "VALIDATION_ERROR"]);
  });

  it("is for admins, and for keys of the project", async () => {
    const stranger = await newOwner();
    const own = { ...stranger.headers, "X-Workspace-Id": owner.workspaceId };
    expect(refusal(await as({ headers: own }, pathOf(), { method: "PATCH", body: { name: "x" } }))).toEqual([
      404,
      "NOT_FOUND",
    ]);
    expect(refusal(await change({ name: "x" }, { ...key, keyId: "key_000000000000" }))).toEqual([404, "NOT_FOUND"]);
    const other = { ...key, projectId: await newProject(owner) };
    expect(refusal(await change({ name: "x" }, other))).toEqual([404, "NOT_FOUND"]);
    await onSql(owner.workspaceId, (sql) => void sql.exec("UPDATE members SET role = 'member'"));
    expect(refusal(await change({ name: "x" }))).toEqual([403, "FORBIDDEN"]);
  });
});

describe("a change holds from the next request", () => {
  const calls = () => vi.spyOn(WorkspaceObject.prototype, "ingestDoor");

  it.each([
    ["small", 1],
    ["read while it arrives", 2_000],
    ["too large to be read twice", 20_000],
  ])("with a body that is %s, in one call once the settings are known", async (_, count) => {
    const body = Array.from({ length: count }, () => record).join("\n");
    await post(body);
    for (const odd of ["odd", "odder"]) {
      await change({ mapping: { message: [odd] } });
      await post(body.replaceAll('"odd"', `"${odd}"`));
    }
    const made = calls();
    await post(body.replaceAll('"odd"', '"odder"'));
    expect(made).toHaveBeenCalledTimes(1);
    expect(await messages()).toEqual(
      ["usual", "mapped", "mapped", "mapped"].flatMap((text) => Array(count).fill(text)),
    );
  });

  it("in a second call of a router that has older settings, which is not counted twice", async () => {
    await post(record);
    await change({ mapping: { message: ["odd"] } });
    const made = calls();
    await post(record);
    expect(made).toHaveBeenCalledTimes(2);
    const counted = await onSql(owner.workspaceId, (sql) => sql.exec("SELECT count(*) AS n FROM batches").one().n);
    expect(counted).toBe(2);
    expect(await messages()).toEqual(["usual", "mapped"]);
  });

  it("dedupe: always and never", async () => {
    const timed = JSON.stringify({ ts: Date.now() - (Date.now() % 1000) + 1, msg: "m" });
    await change({ dedupe: "never" });
    for (const body of [timed, timed]) expect(await post(body)).toMatchObject({ duplicate: false });
    await change({ dedupe: "always" });
    for (const [index, body] of [record, record].entries())
      expect(await post(body)).toMatchObject({ duplicate: index > 0 });
    await change({ dedupe: "auto" });
    for (const [index, body] of [record, record].entries()) {
      expect(await post(body), String(index)).toMatchObject({ duplicate: false });
    }
    expect(await messages()).toHaveLength(5);
  });
});

it("a key of the version before has the default settings", async () => {
  await runInDurableObject(workspace(owner.workspaceId), (_, { storage }) => {
    const step = WORKSPACE_SCHEMA.find((steps) => steps.some((text) => text.includes("settings_version")));
    storage.transactionSync(() => {
      takeBack(storage.sql, WORKSPACE_SCHEMA, step ?? [], ["workspace", "members", "projects", "keys"]);
    });
  });
  await evict(owner.workspaceId);
  await post(record);
  expect((await as(owner, `/projects/${key.projectId}/keys`)).data).toMatchObject({
    items: [{ id: key.keyId, mapping: {}, dedupe: "auto" }],
  });
  await change({ mapping: { message: ["odd"] } });
  await post(record);
  expect(await messages()).toEqual(["usual", "mapped"]);
});
