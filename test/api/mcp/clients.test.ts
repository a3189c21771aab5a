import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { call, createTenant, type Tenant } from "../../support/api.ts";
import { sharedServerUrl } from "../../support/shared-server-url.ts";

let url: string;
let tenant: Tenant;

beforeAll(async () => {
  url = await sharedServerUrl();
  tenant = await createTenant(url);
  await call(url, `/logger/${tenant.projectId}/log`, {
    token: tenant.key.secret,
    body: { logs: [{ message: "payment 7 failed", level: "error" }] },
  });
});

const text = z.looseObject({ content: z.array(z.looseObject({ text: z.string() })) });

test.each([
  ["2026-07-28", { pin: "2026-07-28" }],
  ["2025-11-25", "legacy"],
] as const)(
  "21.2: the client of the official SDK lists and calls the tools by revision %s",
  async (_revision, mode) => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const headers = { Authorization: `Bearer ${tenant.key.secret}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect((await client.listTools()).tools).toEqual(tools);
    const answer = await client.callTool({ name: "search_logs", arguments: { query: "level:error" } });
    expect(text.parse(answer).content[0]?.text).toContain("payment 7 failed");
    await client.close();
  },
);
