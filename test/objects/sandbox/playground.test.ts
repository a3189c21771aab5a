import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { searchAnswerSchema } from "../../../src/logs/search/search-schema.ts";
import { type Answer, type Call, call } from "../accounts/support.ts";
import { numbered } from "../ingest/support.ts";
import {
  BASE,
  cron,
  demoKey,
  freshIp,
  from,
  HOUR_MS,
  left,
  pageOf,
  query,
  remaining,
  sandbox,
  send,
} from "./support.ts";

const OWN = { Origin: "http://taffrail.test", "Content-Type": "text/plain;charset=UTF-8" };

let key = "";
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: BASE });
  key = await demoKey();
  return () => vi.useRealTimers();
});

const lines = (entries: readonly object[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");

/** The requests of `taffrail/browser`: no JSON content type, no credential. */
function sendFromPage(ip: string, body: string, { headers, ...options }: Call = {}): Promise<Answer> {
  return call("/playground/logs", { body, ...options, headers: { ...OWN, ...from(ip), ...headers } });
}

const verdict = ({ status, code }: Answer) => [status, code];
const limitOf = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Limit"));

describe("the playground's proxy", () => {
  it("stores a page's entries with the sandbox's key, and counts them for the page's client IP", async () => {
    const ip = freshIp();
    const answer = await sendFromPage(ip, lines([{ message: "from a page", data: { n: 1 } }, { message: "another" }]));
    expect(answer.status).toBe(201);
    expect(answer.data).toMatchObject({ accepted: 2, duplicate: false });
    expect([limitOf(answer), remaining(answer)]).toEqual([100, 98]);
    expect(remaining(await send(key, ip, { message: "one more" }))).toBe(97);
    const { logs } = pageOf(await query(key, ip, { filters: { search: "from a page" } }));
    expect(logs.map(({ data }) => data)).toEqual([{ n: 1, source: "browser" }]);
  });

  it("keeps only members that a browser may set", async () => {
    const ip = freshIp();
    const entry = { message: "with more", tenant: "x", id: "log_1", data: { source: "server" } };
    expect((await sendFromPage(ip, lines([entry]))).status).toBe(201);
    const { logs } = pageOf(await query(key, ip, { filters: { search: "with more" } }));
    expect(logs[0]?.data).toEqual({ source: "browser" });
    expect(logs[0]?.id).not.toBe("log_1");
  });

  it("recognizes a repetition by the idempotency key in the URL", async () => {
    const ip = freshIp();
    const repeat = () =>
      call("/playground/logs?id=tab-1", { body: lines([{ message: "once" }]), headers: { ...OWN, ...from(ip) } });
    expect((await repeat()).data).toMatchObject({ duplicate: false });
    expect((await repeat()).data).toMatchObject({ duplicate: true });
  });

  it("refuses other and missing origins without using the budget", async () => {
    const ip = freshIp();
    const body = lines([{ message: "foreign" }]);
    for (const origin of [
      "https://evil.example",
      "null",
      "http://taffrail.test.evil.example",
      "http://taffrail.test:81",
    ]) {
      const answer = await sendFromPage(ip, body, { headers: { Origin: origin } });
      expect([origin, ...verdict(answer), limitOf(answer)]).toEqual([origin, 403, "FORBIDDEN", 1000]);
      expect(answer.headers.get("Access-Control-Allow-Origin")).toBeNull();
    }
    const none = await call("/playground/logs", { body, headers: from(ip) });
    expect(verdict(none)).toEqual([403, "FORBIDDEN"]);
    expect(remaining(await send(key, ip, { message: "first" }))).toBe(99);
  });

  it("refuses too large bodies, too many entries and none, in the envelope with the request's id", async () => {
    const ip = freshIp();
    const large = await sendFromPage(ip, lines([{ message: "x".repeat(70_000) }]));
    expect(verdict(large)).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    expect(verdict(await sendFromPage(ip, lines(numbered(501))))).toEqual([400, "VALIDATION_ERROR"]);
    expect(verdict(await sendFromPage(ip, ""))).toEqual([400, "VALIDATION_ERROR"]);
    const bad = await sendFromPage(ip, lines([{ message: "" }]), { headers: { "X-Request-Id": "req-1" } });
    expect(verdict(bad)).toEqual([400, "VALIDATION_ERROR"]);
    expect(bad.details).toMatchObject([{ index: 0, code: "INVALID_MESSAGE" }]);
    expect(JSON.parse(bad.text).meta.requestId).toBe("req-1");
    // More than the whole budget; the library halves it.
    expect(verdict(await sendFromPage(ip, lines(numbered(101))))).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("reports when the budget is used up, and when it has room again", async () => {
    const ip = freshIp();
    expect((await sendFromPage(ip, lines(numbered(100)))).status).toBe(201);
    const refused = await sendFromPage(ip, lines([{ message: "late" }]));
    expect([...verdict(refused), limitOf(refused), remaining(refused)]).toEqual([429, "RATE_LIMITED", 100, 0]);
    expect(refused.headers.get("Retry-After")).toBe("3600");
  });

  it("returns no key in any response, and forwards none of a caller", async () => {
    const ip = freshIp();
    const headers = { Authorization: "Bearer sk_somebody", "X-Workspace-Id": "ws_000000000000" };
    const answer = await sendFromPage(ip, lines([{ message: "with a credential" }]), { headers });
    expect(answer.status).toBe(201);
    expect(answer.text + JSON.stringify([...answer.headers])).not.toContain("sk_");
  });

  it("uses the new key right after a reset", async () => {
    vi.setSystemTime(BASE + 5 * HOUR_MS);
    await cron(BASE + 5 * HOUR_MS);
    const answer = await sendFromPage(freshIp(), lines([{ message: "after the reset" }]));
    expect(answer.status).toBe(201);
    expect((await sandbox()).apiKey).not.toBe(key);
  });
});

describe("GET /sandbox/budget", () => {
  it("shows what is left of both budgets, and spends nothing", async () => {
    const ip = freshIp();
    const budget = () => call("/sandbox/budget", { headers: from(ip) });
    const untouched = { limit: 100, remaining: 100, resetsAt: new Date(BASE).toISOString() };
    expect((await budget()).data).toEqual({ entries: untouched, reads: { ...untouched, limit: 20, remaining: 20 } });
    await send(key, ip, numbered(3));
    await query(key, ip);
    const resetsAt = new Date(BASE + HOUR_MS).toISOString();
    for (let round = 0; round < 3; round++) {
      const answer = await budget();
      expect(limitOf(answer)).toBe(1000);
      expect(answer.data).toEqual({
        entries: { limit: 100, remaining: 97, resetsAt },
        reads: { limit: 20, remaining: 19, resetsAt },
      });
    }
  });
});

describe("GET /sandbox/preview", () => {
  const preview = async (ip: string) => call("/sandbox/preview", { headers: from(ip) });

  it("answers its queries without a key, uses no budget, and counts by client IP", async () => {
    const ip = freshIp();
    const answer = await preview(ip);
    expect([answer.status, limitOf(answer), remaining(answer)]).toEqual([200, 1000, 999]);
    const shape = z.strictObject({ queries: z.array(z.string()), answers: z.array(searchAnswerSchema) });
    const { queries, answers } = shape.parse(answer.data);
    expect(answers.map(({ kind }) => kind)).toEqual(["entries", "table", "table"]);
    expect(queries).toHaveLength(3);
    const [entries, levels, table] = answers;
    expect(entries).toMatchObject({ logs: { length: 40 } });
    expect(levels).toMatchObject({ exact: true, columns: [{ name: "level" }, { name: "time" }, { name: "count()" }] });
    expect(table).toMatchObject({ rows: { length: 5 } });
    expect(answer.text).not.toContain(key);
    expect(await left(key, ip, "reads")).toBe(20);
  });

  it("is up to ten seconds old, and never older than a reset", async () => {
    const ip = freshIp();
    const text = async () => JSON.stringify((await preview(ip)).data);
    // After all resets of the tests above.
    const start = BASE + 11 * HOUR_MS;
    vi.setSystemTime(start);
    await cron(start);
    const before = await text();
    expect((await send(await demoKey(), ip, { message: "just sent", level: "fatal" })).status).toBe(201);
    expect(await text()).toBe(before);
    vi.setSystemTime(start + 10_000);
    expect(await text()).toContain("just sent");
    vi.setSystemTime(start + 6 * HOUR_MS);
    await cron(start + 6 * HOUR_MS);
    expect(await text()).not.toContain("just sent");
  });
});
