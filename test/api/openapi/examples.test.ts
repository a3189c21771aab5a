import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, call, type Key, type SignedIn } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";
import { type Operation, operationsOf } from "./document.ts";

let server: TestServer;
let operations: Operation[];

beforeAll(async () => {
  server = await startServer({ env: { AUTH_LIMIT: "100" } });
  operations = await operationsOf(server.url);
}, 120_000);
afterAll(() => server.stop());

function operation(id: string): Operation {
  const found = operations.find((each) => each.id === id);
  if (!found) throw new Error(`The document has no ${id}.`);
  return found;
}

function examplesOf({ body }: Operation): [mediaType: string, example: unknown][] {
  return Object.entries(body?.examples ?? {});
}

/** The entries of a body that is one entry per line. */
function entriesIn(example: unknown): unknown[] {
  return String(example)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

interface Caller {
  token?: string;
  workspaceId?: string;
  /** Ids for the path; the document's examples are of nothing that exists. */
  ids?: Readonly<Record<string, string>>;
  mediaType?: string;
  headers?: Readonly<Record<string, string>>;
}

/** Sends the example of an operation as it stands. */
function execute<Data = unknown>(id: string, caller: Caller = {}): Promise<Answer<Data>> {
  const { method, path, body } = operation(id);
  const { ids = {}, mediaType = "application/json", headers, ...credential } = caller;
  const example = body?.examples[mediaType];
  return call<Data>(
    server.url,
    path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ""),
    {
      method,
      ...credential,
      headers: { "Content-Type": mediaType, ...headers },
      ...(body ? { body: example } : {}),
    },
  );
}

describe("14: examples in the API document", () => {
  it("14: every request body has an example of every media type, and its schema accepts it", () => {
    const bodies = operations.flatMap((each) => examplesOf(each).map(([type, example]) => ({ each, type, example })));
    expect(bodies.length).toBeGreaterThan(25);
    for (const { each, type, example } of bodies) {
      expect(example, each.id).toBeDefined();
      expect(each.acceptsBody(type, example), `${each.id} ${type}`).toBe(true);
      // Doors accept what is no entry.
      if (type !== "application/x-ndjson" || each.id.startsWith("door.")) continue;
      const { acceptsBody } = operation("workspace.ingest");
      for (const entry of entriesIn(example)) expect(acceptsBody("application/json", entry), each.id).toBe(true);
    }
  });

  it("14: every required parameter has an example, and no optional one: the reference would send it", () => {
    for (const { id, parameters } of operations) {
      for (const parameter of parameters) {
        expect([id, parameter.name, parameter.example !== undefined]).toEqual([
          id,
          parameter.name,
          parameter.required === true,
        ]);
      }
    }
  });

  it("14: examples work one after the other: register, sign in, project, key, settings", async () => {
    expect(await execute("auth.register")).toMatchObject({ status: 201 });
    const signedIn = await execute<SignedIn>("auth.login");
    expect(signedIn.status).toBe(200);
    const { accessToken: token, personalWorkspace } = signedIn.body.data;
    const workspaceId = personalWorkspace.id;
    for (const id of ["auth.magic-link.request", "auth.password.forgot", "auth.logout"]) {
      expect([id, (await execute(id)).status]).toEqual([id, 200]);
    }
    const project = await execute<{ id: string }>("project.create", { token, workspaceId });
    const ids = { workspaceId, projectId: project.body.data.id };
    expect(await execute("project.rename", { token, workspaceId, ids })).toMatchObject({ status: 200 });
    const key = await execute<Key>("key.create", { token, workspaceId, ids });
    expect(key.status).toBe(201);
    const rotated = { ...ids, keyId: key.body.data.id };
    expect(await execute("key.rotate", { token, workspaceId, ids: rotated })).toMatchObject({ status: 201 });
    expect(await execute("workspace.update", { token, ids })).toMatchObject({ status: 200 });
    expect(await execute("limits.set", { token, ids })).toMatchObject({ status: 200 });
    expect(await execute("auth.password.change", { token })).toMatchObject({ status: 200 });
  });

  it("14: the examples of ingest, query and histogram work with the sandbox's key", async () => {
    const sandbox = await call<{ apiKey: string; projectId: string }>(server.url, "/sandbox");
    const { apiKey: token, projectId } = sandbox.body.data;
    for (const mediaType of ["application/json", "application/x-ndjson"]) {
      const sent = await execute("workspace.ingest", { token, ids: { projectId }, mediaType });
      expect(sent, mediaType).toMatchObject({ status: 201, body: { data: { accepted: 2, rejectedCount: 0 } } });
    }
    const played = await execute("playground.send", {
      mediaType: "application/x-ndjson",
      headers: { Origin: server.url },
    });
    expect(played).toMatchObject({ status: 201, body: { data: { accepted: 2, rejectedCount: 0 } } });
    const found = await execute<{ logs: { message: string }[] }>("workspace.query", { token });
    expect(found.status).toBe(200);
    expect(found.body.data.logs.map(({ message }) => message)).toContain("Payment gateway timed out");
    const counted = await execute<{ total: number; complete: boolean }>("workspace.stats", { token });
    expect(counted).toMatchObject({ status: 200, body: { data: { complete: true } } });
    expect(counted.body.data.total).toBeGreaterThan(found.body.data.logs.length);
  });

  it("14: example tokens have the form of a token, and are refused as unknown", async () => {
    for (const id of ["auth.magic-link.verify.post", "auth.verify-email.post", "auth.verify-email.reject"]) {
      expect(await execute(id), id).toMatchObject({ status: 400, body: { error: { code: "INVALID_TOKEN" } } });
    }
    for (const id of ["auth.password.reset", "invitation.open", "auth.oauth.exchange"]) {
      expect(await execute(id), id).toMatchObject({ status: 400, body: { error: { code: "INVALID_TOKEN" } } });
    }
    expect(await execute("auth.refresh")).toMatchObject({ status: 401 });
  });
});
