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

test("21.4: llms.txt and the documents that it names lead to no missing page", async () => {
  const linksOf = async (page: string) => {
    const response = await fetch(page);
    const body = response.ok && /text\/(plain|markdown)/.test(response.headers.get("Content-Type") ?? "");
    if (!body) await response.body?.cancel();
    const links = body ? [...(await response.text()).matchAll(/\]\(([^)#\s]+)/g)] : [];
    const targets = links.map(([, link = ""]) => new URL(link, page).href);
    return { status: response.status, links: targets.filter((target) => target.startsWith(url)) };
  };
  const first = (await linksOf(`${url}/llms.txt`)).links;
  expect(first).toContain(`${url}/docs/agents/SKILL.md`);
  const pages = await Promise.all(first.map(linksOf));
  const second = [...new Set(pages.flatMap(({ links }) => links))];
  expect(second.length).toBeGreaterThan(10);
  const statuses = await Promise.all(second.map(async (page) => [page, (await linksOf(page)).status]));
  expect(
    [...first.map((page, at) => [page, pages[at]?.status]), ...statuses].filter(([, status]) => status !== 200),
  ).toEqual([]);
});
