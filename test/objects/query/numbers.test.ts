import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ColdTier } from "../../../src/logs/cold/store/cold-tier.ts";
import { queryPageSchema } from "../../../src/logs/entry-view.ts";
import { runQuery } from "../../../src/logs/query/run-query.ts";
import { QueryBody } from "../../../src/logs/query/schema.ts";
import type { LogSource } from "../../../src/logs/query/tiers.ts";
import { segmentOfStrings } from "../../fixtures/segment-of-strings.ts";
import { answered } from "../../unit/query/store.ts";
import { bearer, call } from "../accounts/support.ts";
import { clock, flushAll, watermark } from "../flush/support.ts";
import { newTenant, receiptOf, send, type Tenant } from "../ingest/support.ts";
import { tailOf } from "../tail/support.ts";

beforeEach(() => clock.start());
afterEach(() => clock.stop());

/** Messages of a search's results, in order of `seq`. */
async function found(tenant: Tenant, search: string): Promise<string[]> {
  const body = { filters: { search }, order: "asc", pagination: { limit: 1000 } };
  const answer = await call("/logger/query", { body, headers: bearer(tenant.secret) });
  expect(answer.status).toBe(200);
  const { logs, complete } = queryPageSchema.parse(answer.data);
  expect(complete).toBe(true);
  return logs.map(({ message }) => message.trim());
}

async function counted(tenant: Tenant, search: string): Promise<unknown> {
  const body = { interval: "1d", filters: { search } };
  const answer = await call("/logger/stats", { body, headers: bearer(tenant.secret) });
  expect(answer.status).toBe(200);
  return answer.data;
}

/** Numbers as a client may write them, keyed by the message of their entry. */
const SENT = {
  status: '{"status":504}',
  decimal: '{"ratio":0.1,"whole":1.0}',
  exponent: '{"n":1E2,"list":[{"m":-2.5e+3}]}',
  large: '{"n":1e21}',
  small: '{"n":0.0000001}',
  zero: '{"n":-0}',
  yes: '{"ok":true}',
  no: '{"list":[null,false]}',
  text: '{"n":"1.0 and 1E2"}',
  name: '{"504":"x","true":"y","nothing":null}',
};

const FINDS: [search: string, messages: (keyof typeof SENT)[]][] = [
  ["504", ["status"]],
  ["0.1", ["decimal"]],
  // As `JSON.stringify` writes it, not as it was sent; strings are unchanged.
  ["1.0", ["text"]],
  ["1e2", ["text"]],
  ["100", ["exponent"]],
  ["-2500", ["exponent"]],
  ["1E+21", ["large"]],
  ["1e-7", ["small"]],
  ["-0", []],
  ["TRUE", ["yes"]],
  ["als", ["no"]],
  ["null", []],
];

describe("4: search finds numbers and booleans of data by their JSON text", () => {
  it.each(["as they are sent", "as they are stored"])("4: in either tier, and in tails, %s", async (form) => {
    const tenant = await newTenant();
    const tail = await tailOf(tenant, { query: "?search=504" });
    const head = { timestamp: new Date(clock.at).toISOString(), level: "info", category: "custom", type: "log" };
    const lines = Object.entries(SENT).map(([message, data]) => {
      const line = `${JSON.stringify({ ...head, message }).slice(0, -1)},"data":${data}}`;
      return form === "as they are sent" ? line : JSON.stringify(JSON.parse(line));
    });
    receiptOf(await send(tenant, lines.join("\n"), { type: "application/x-ndjson" }));
    await tail.has(1);
    expect(tail.messages).toEqual(["status"]);
    tail.close();
    for (const tier of ["recent", "cold"]) {
      for (const [search, messages] of FINDS) {
        expect([tier, search, await found(tenant, search)]).toEqual([tier, search, messages]);
        expect(await counted(tenant, search)).toMatchObject({ total: messages.length });
      }
      if (tier === "recent") await flushAll(tenant);
    }
    expect(await watermark(tenant)).toBe(lines.length);
    const behind = await tailOf(tenant, { query: "?since=0&search=504" });
    await behind.has(1);
    expect(behind.messages).toEqual(["status"]);
    behind.close();
  });
});

describe("4: a segment of the version before, whose filters have only the grams of strings", () => {
  const segment = segmentOfStrings();
  const workspaceId = "ws_0000000000N4";
  const tier = new ColdTier(env);
  const flushed = [{ projectId: segment.projectId, seq: segment.lastSeq }];
  const source: LogSource = {
    workspaceId,
    recent: async () => {
      return { asOf: 1, lastCommit: 1, scope: segment.projectId, flushed, oldest: 0, batches: [], next: null };
    },
    cold: tier,
    report: (fault) => expect.fail(fault.message),
  };

  beforeAll(async () => {
    await tier.insertSegments(workspaceId, [segment]);
  });

  it.each([
    ["504", ["a"]],
    ["7701", ["b"]],
    ["0.1", ["b"]],
    ["1e+2", ["c"]],
    ["-12.5", ["d"]],
    // A boolean in one block, and a text in another.
    ["tru", ["a", "d"]],
    ["alse", ["b", "d"]],
    ["true", ["a"]],
    ["False", ["b", "d"]],
    ["truly", ["d"]],
    ["untrue", []],
  ])("4: is searched for %s", async (search, parts) => {
    const result = await runQuery(source, QueryBody.parse({ filters: { search }, order: "asc" }), () => 0);
    if (!result.ok) throw new Error(result.reason);
    const messages = answered(result.page).logs.map(({ message }) => message.trim());
    expect(messages).toEqual(parts.map((part) => `Request of part ${part}`));
    // The filters still exclude what they can.
    if (search === "untrue") expect(result.page.stats.scanned).toBe(0);
    if (search === "truly") expect(result.page.stats.scanned).toBeLessThan(segment.count / 2);
  });
});
