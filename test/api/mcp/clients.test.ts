import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { call, createTenant, type Tenant } from "../../support/api.ts";
import { startServer, type TestServer } from "../../support/server.ts";

let server: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  server = await startServer();
  tenant = await createTenant(server.url);
  await call(server.url, `/logger/${tenant.projectId}/log`, {
    token: tenant.key.secret,
    body: { logs: [{ message: "payment 7 failed", level: "error" }] },
  });
});
afterAll(() => server.stop());

const text = z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) });

test.each([
  ["2026-07-28", { pin: "2026-07-28" }],
  ["2025-11-25", "legacy"],
] as const)(
  "21.2: the client of the official SDK lists and calls the tools by revision %s",
  async (_revision, mode) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const headers = { Authorization: `Bearer ${tenant.key.secret}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect((await client.listTools()).tools).toEqual(tools);
    const answer = await client.callTool({ name: "search_logs", arguments: { query: "level:error" } });
    expect(text.parse(answer).content[0]?.text).toContain("payment 7 failed");
    await client.close();
  },
);
