import { beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import { batchAnswerSchema } from "../../../src/logs/search/batch.ts";
import { parseAnswerSchema, searchAnswerSchema, suggestAnswerSchema } from "../../../src/logs/search/search-schema.ts";
import { type Answer, bearer, call } from "../accounts/support.ts";
import { addKey, addProject, newTenant, receiptOf, send, type Tenant } from "../ingest/support.ts";
import { openTail } from "../tail/support.ts";

const MINUTE = 60_000;
let tenant: Tenant;
let key: Record<string, string>;

beforeAll(async () => {
  tenant = await newTenant();
  key = bearer(tenant.secret);
  const now = Date.now();
  const logs = Array.from({ length: 60 }, (_, n) => ({
    message: n % 2 === 0 ? `GET /orders/${n} took ${n} ms` : "cache hit",
    level: n % 10 === 0 ? "error" : "info",
    category: n % 2 === 0 ? "http" : "cache",
    timestamp: now - n * MINUTE,
    data: n % 2 === 0 ? { route: n % 4 === 0 ? "/orders" : "/users", status: n % 10 === 0 ? 504 : 200, ms: n } : {},
  }));
  receiptOf(await send(tenant, logs));
});

const post = (path: string, body: object, headers = key): Promise<Answer> => call(path, { body, headers });

async function search(body: object): Promise<z.output<typeof searchAnswerSchema>> {
  const answer = await post("/logger/search", body);
  expect([answer.status, answer.code, answer.details]).toEqual([200, null, []]);
  expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
  return searchAnswerSchema.parse(answer.data);
}

async function entriesOf(body: object) {
  const answer = await search(body);
  if (answer.kind !== "entries") throw new Error("A table.");
  return answer;
}

async function tableOf(body: object) {
  const answer = await search(body);
  if (answer.kind !== "table") throw new Error("No table.");
  return answer;
}

describe("POST /logger/search", () => {
  it("17.2: answers with entries, in pages of one snapshot whose relative times count from the first question", async () => {
    const first = await entriesOf({ query: "level:info http time:55m", limit: 10 });
    expect(first).toMatchObject({ complete: expect.any(Boolean), notes: [], scanned: expect.any(Number) });
    expect(first.logs).toHaveLength(0);
    const all = await entriesOf({ query: "category:http level:info time:55m" });
    const pages: string[] = [];
    let body: Record<string, unknown> = { query: "category:http level:info time:55m", limit: 7 };
    for (;;) {
      const page = await entriesOf(body);
      pages.push(...page.logs.map(({ id }) => id));
      if (page.nextCursor === null) break;
      expect(page.asOf).toBe((await entriesOf({ ...body, cursor: page.nextCursor })).asOf);
      body = { ...body, cursor: page.nextCursor };
    }
    expect(pages).toEqual(all.logs.map(({ id }) => id));
    expect(pages.length).toBeGreaterThan(15);
    expect((await entriesOf({ query: "category:http level:info time:55m", asOf: all.asOf })).matched).toBe(all.matched);
  });

  it("17.2: answers with a table, within the time range of the request", async () => {
    const table = await tableOf({ query: "ms:* | stats count() as n, max(ms) by route | sort n desc" });
    expect(table).toMatchObject({
      columns: [
        { name: "route", type: "string" },
        { name: "n", type: "number" },
        { name: "max(ms)", type: "number" },
      ],
      rows: [
        ["/orders", 15, 56],
        ["/users", 15, 58],
      ],
      matched: 30,
      complete: true,
      exact: true,
      notes: [],
    });
    const recent = await tableOf({ query: "* | count", from: Date.now() - 10.5 * MINUTE });
    expect(recent.rows).toEqual([[11]]);
    expect((await tableOf({ query: "* | top 10 by route", limit: 1 })).rows).toHaveLength(1);
    expect((await tableOf({ query: "* | count", asOf: table.asOf })).rows).toEqual([[60]]);
  });

  it.each([
    ["level:>=", { position: 8, expected: expect.arrayContaining(["a level"]) }],
    [
      "level:error | stats p9(ms)",
      {
        position: 20,
        suggestion: "p90",
        corrected: "level:error | stats p90(ms)",
        message: "Unknown function `p9`. Did you mean `p90`?",
      },
    ],
    ["a:!=x", { position: 2, suggestion: "-a:x", corrected: "-a:x" }],
    [
      "level:(error, fatal)",
      { position: 6, suggestion: "level:(error OR fatal)", corrected: "level:(error OR fatal)" },
    ],
    [
      "time:today",
      {
        position: 5,
        suggestion: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        corrected: expect.stringMatching(/^time:\d{4}-\d\d-\d\d$/),
      },
    ],
    ["ok route:~/(/", { position: 9, expected: ["a regular expression of RE2"] }],
    ["* | where a:~/[/ | count", { position: 12 }],
  ])("17.2: an error of %s names the place", async (query, expected) => {
    const { status, code, details } = await post("/logger/search", { query });
    expect([status, code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(details).toEqual([
      { path: "query", code: "custom", message: expect.any(String), expected: expect.any(Array), ...expected },
    ]);
  });

  it("notes what is accepted and probably means something else, and members that the newest entries lack", async () => {
    const notesOf = async (body: object) => (await search(body)).notes;
    expect(await notesOf({ query: "status:5xx" })).toEqual([expect.stringContaining("`status:500..599`")]);
    expect(await notesOf({ query: "-status:5xx | count" })).toEqual([expect.stringContaining("`status:500..599`")]);
    expect(await notesOf({ query: "message:orders" })).toEqual([expect.stringContaining("the whole message")]);
    expect(await notesOf({ query: 'message:"cache hit"' })).toEqual([]);
    const unknown = "No recent entry has the member `staus`; did you mean `status`?";
    expect(await notesOf({ query: "staus:500" })).toEqual([unknown]);
    expect(await notesOf({ query: "staus:500 | count by route" })).toEqual([unknown]);
    expect(await notesOf({ query: "status:999" })).toEqual([]);
    // 17: a key that no entry has makes one row, of null.
    const key = "No recent entry has the member `rout`; did you mean `route`?";
    expect(await notesOf({ query: "* | top 5 by rout" })).toEqual([key]);
    expect(await notesOf({ query: "route:* | stats p99(rout) by route" })).toEqual([key]);
    expect(await notesOf({ query: "* | sort rout desc" })).toEqual([key]);
    expect(await notesOf({ query: "* | stats count(rout), count() | where count():<5" })).toEqual([key]);
    const missing =
      "`route`, `status`: null for entries without a value. `route:* status:*` in the filter leaves them out.";
    expect(await notesOf({ query: "* | count by route, status" })).toEqual([missing]);
    expect(await notesOf({ query: "category:cache | count by route, status" })).toEqual([]);
    expect(await notesOf({ query: "level:error -staus:500" })).toEqual([]);
    expect(await notesOf({ query: "staus:500", to: Date.now() - 7 * 86_400_000 })).toEqual([]);
  });

  it("refuses other members, cursors of other queries and tables, and future snapshots", async () => {
    const { nextCursor, asOf } = await entriesOf({ query: "*", limit: 5 });
    const cases: [object, string][] = [
      [{}, "query"],
      [{ query: "*", filters: {} }, "filters"],
      [{ query: "*", limit: 1001 }, "limit"],
      [{ query: "*", cursor: "x" }, "cursor"],
      [{ query: "* | count", cursor: nextCursor }, "cursor"],
      [{ query: "level:info", cursor: nextCursor }, "cursor"],
      [{ query: "*", asOf: "?" }, "asOf"],
      [{ query: "*", asOf: "zzzz" }, "asOf"],
      // No date is so late.
      [{ query: "received:1h", asOf: "0-fFgnDxSe7" }, "asOf"],
      [{ query: "*", cursor: nextCursor, asOf: asOf.replace(/^./, "0") }, "asOf"],
    ];
    for (const [body, path] of cases) {
      const { status, details } = await post("/logger/search", body);
      expect([body, status, details]).toEqual([body, 400, [expect.objectContaining({ path })]]);
    }
  });

  it("has the credentials of a query, and counts a request that is refused", async () => {
    const writer = await addKey(tenant, ["logs:write"]);
    const body = { query: "*" };
    for (const path of ["/logger/search", "/logger/search/suggest"]) {
      expect((await post(path, body, {})).code).toBe("UNAUTHORIZED");
      expect((await post(path, body, bearer(writer.secret))).code).toBe("INSUFFICIENT_SCOPE");
      expect((await post(path, { ...body, projectId: "proj_x" })).code).toBe("NOT_FOUND");
    }
    const invalid = { query: "a:!=x" };
    expect((await post("/logger/search", invalid, bearer(writer.secret))).code).toBe("INSUFFICIENT_SCOPE");
    const left = ({ headers }: Answer) => Number(headers.get("X-RateLimit-Remaining"));
    const before = left(await post("/logger/search", body));
    expect(left(await post("/logger/search", invalid))).toBe(before - 1);
    expect(left(await post("/logger/search/suggest", { query: "a | " }))).toBe(before - 2);
    expect(left(await post("/logger/search/suggest", { query: "sta" }))).toBe(before - 3);
  });
});

describe("POST /logger/search/batch", () => {
  async function batch(body: object, headers = key) {
    const answer = await post("/logger/search/batch", body, headers);
    expect([answer.status, answer.details]).toEqual([200, []]);
    return { answer, data: batchAnswerSchema.parse(answer.data) };
  }

  it("answers queries in order on one snapshot, and one that is wrong does not affect the others", async () => {
    const queries = [
      { query: "* | stats count() by level, bin(1h)" },
      { query: "a:!=x" },
      { query: "level:error", limit: 2 },
      { query: "* | count", projectId: "proj_x" },
      { query: "*", limit: 1001 },
      { query: "* | count", from: Date.now() - 10.5 * MINUTE },
      { query: "nothing | top 5 by rout" },
    ];
    const { data } = await batch({ queries });
    const [byLevel, wrong, entries, foreign, tooMany, recent, noted] = data.answers;
    expect(byLevel).toMatchObject({ ok: true, kind: "table", matched: 60, complete: true, asOf: data.asOf });
    expect(wrong).toMatchObject({
      ok: false,
      error: { code: "VALIDATION_ERROR", details: [{ path: "query", position: 2, suggestion: "-a:x" }] },
    });
    expect(entries).toMatchObject({ ok: true, kind: "entries", matched: 2, asOf: data.asOf });
    expect(foreign).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    expect(tooMany).toMatchObject({ ok: false, error: { details: [{ path: "limit" }] } });
    expect(recent).toMatchObject({ ok: true, rows: [[11]] });
    expect(noted).toMatchObject({ ok: true, notes: [expect.stringContaining("did you mean `route`?")] });
  });

  it("repeats a snapshot, and counts once", async () => {
    const other = await newTenant();
    const headers = bearer(other.secret);
    receiptOf(await send(other, [{ message: "first" }]));
    const queries = Array.from({ length: 20 }, () => ({ query: "* | count" }));
    const first = await batch({ queries }, headers);
    receiptOf(await send(other, [{ message: "second" }]));
    const again = await batch({ queries, asOf: first.data.asOf }, headers);
    const counts = ({ data }: typeof first) =>
      data.answers.map((each) => each.ok && each.kind === "table" && each.rows);
    expect(counts(again)).toEqual(counts(first));
    expect(counts(first)[19]).toEqual([[1]]);
    const left = ({ answer }: typeof first) => Number(answer.headers.get("X-RateLimit-Remaining"));
    const wrong = await batch({ queries: [{ query: "(" }] }, headers);
    expect(left(wrong)).toBe(left(again) - 1);
  });

  it("refuses a batch without queries or with too many, foreign snapshots, and other callers", async () => {
    const query = { query: "*" };
    const cases: [object, string][] = [
      [{}, "queries"],
      [{ queries: [] }, "queries"],
      [{ queries: Array.from({ length: 21 }, () => query) }, "queries"],
      [{ queries: [query], from: 0 }, "from"],
      [{ queries: [query, "text"] }, "queries.1"],
      [{ queries: [{ ...query, cursor: "x" }] }, "queries.0.cursor"],
      [{ queries: [{ query: 1 }] }, "queries.0.query"],
      [{ queries: [query], asOf: "?" }, "asOf"],
      [{ queries: [query], asOf: "zzzz" }, "asOf"],
    ];
    for (const [body, path] of cases) {
      const { status, details } = await post("/logger/search/batch", body);
      expect([body, status, details]).toEqual([body, 400, [expect.objectContaining({ path })]]);
    }
    const writer = await addKey(tenant, ["logs:write"]);
    const code = async (headers: Record<string, string>) =>
      (await post("/logger/search/batch", { queries: [query] }, headers)).code;
    expect(await code({})).toBe("UNAUTHORIZED");
    expect(await code(bearer(writer.secret))).toBe("INSUFFICIENT_SCOPE");
  });
});

describe("17: a key of one project", () => {
  const SECRET = "number of the other project";
  let other: Tenant;
  let foreign: Tenant;

  beforeAll(async () => {
    const projectId = await addProject(tenant);
    other = { ...tenant, projectId, ...(await addKey({ ...tenant, projectId })) };
    foreign = await newTenant();
    for (const each of [other, foreign]) {
      const logs = Array.from({ length: 5 }, (_, n) => ({
        message: `${SECRET} ${n}`,
        data: { hidden: "hidden-value" },
      }));
      receiptOf(await send(each, logs));
    }
  });

  it("reads no entries of others, by whatever filter, key, pattern or neighbour", async () => {
    const ids = [other, foreign].map(({ projectId }) => projectId);
    const own = `project:${tenant.projectId}`;
    for (const query of [
      SECRET,
      `"${SECRET}"`,
      ...ids.flatMap((id) => [
        `project:${id}`,
        `project:=${id}`,
        `project:(${id} OR x)`,
        `-${own}`,
        `project:${id} OR zzz`,
      ]),
      `id:* -${own}`,
      "hidden:*",
      "project:~/^proj_/ hidden:*",
    ]) {
      expect({ query, ...(await search({ query })) }).toMatchObject({ query, matched: 0, logs: [] });
      const { rows } = await tableOf({ query: `${query} | count` });
      expect([query, rows]).toEqual([query, [[0]]]);
    }
    expect((await tableOf({ query: "* | count by project" })).rows).toEqual([[tenant.projectId, 60]]);
    for (const query of [
      "* | facets 50",
      "* | patterns",
      "* | patterns vs 1d",
      "level:error | context 100",
      "* | sort hidden",
    ]) {
      const { text } = await post("/logger/search", { query, limit: 1000 });
      expect(text).not.toMatch(/hidden-value|other project/);
    }
  });

  it("is suggested no members, values or projects of others", async () => {
    for (const query of [
      "",
      "hid",
      "hidden:",
      "project:",
      `project:${other.projectId} `,
      "a | top by ",
      `"${SECRET}" mess`,
    ]) {
      const { status, text } = await post("/logger/search/suggest", { query });
      expect([query, status]).toEqual([query, 200]);
      expect(text).not.toMatch(/hidden|other project/);
      expect(text.replace(query, "")).not.toContain(foreign.projectId);
    }
  });

  it("cannot go on with cursors or snapshots of others", async () => {
    const page = { query: "*", limit: 2 };
    for (const each of [other, foreign]) {
      const first = await post("/logger/search", page, bearer(each.secret));
      const { nextCursor, asOf } = searchAnswerSchema.parse(first.data).kind === "entries" ? Object(first.data) : {};
      expect(nextCursor).toEqual(expect.any(String));
      const taken = await post("/logger/search", { ...page, cursor: nextCursor });
      expect([taken.status, taken.details]).toEqual([400, [expect.objectContaining({ path: "cursor" })]]);
      // A snapshot is a number of a commit. It selects among the own entries only.
      const { text } = await post("/logger/search", { ...page, asOf, limit: 1000 });
      expect(text).not.toMatch(/hidden-value|other project/);
      const named = await post("/logger/search", { ...page, projectId: each.projectId });
      expect([named.status, named.code]).toEqual([404, "NOT_FOUND"]);
      const suggested = await post("/logger/search/suggest", { query: "hid", projectId: each.projectId });
      expect([suggested.status, suggested.code]).toEqual([404, "NOT_FOUND"]);
    }
  });
});

describe("POST /logger/search/parse", () => {
  it("17.2: returns syntax, formatted text and columns, without a credential", async () => {
    const answer = await post("/logger/search/parse", { query: "a:b AND -c|count by bin( 5m )" }, {});
    expect(answer.status).toBe(200);
    expect(parseAnswerSchema.strict().parse(answer.data)).toEqual({
      query: {
        filter: {
          kind: "and",
          filters: [
            { kind: "field", field: { kind: "data", path: ["a"] }, test: { kind: "is", text: "b" } },
            { kind: "not", filter: { kind: "text", test: { kind: "contains", text: "c" } } },
          ],
        },
        pipes: [{ kind: "count", by: [{ kind: "bin", ms: 300_000 }] }],
      },
      text: "a:b -c\n| count by bin(5m)",
      columns: [
        { name: "time", type: "time" },
        { name: "count", type: "number" },
      ],
      hints: [],
    });
    const hinted = parseAnswerSchema.parse((await post("/logger/search/parse", { query: "a OR b=1" }, {})).data);
    expect(hinted.hints).toEqual([{ message: expect.stringContaining("`b:1`"), position: 5, ifNothing: false }]);
    const wrong = await post("/logger/search/parse", { query: "n > 10 | where n > 10" }, {});
    expect([wrong.status, wrong.details]).toEqual([
      400,
      [expect.objectContaining({ position: 15, suggestion: "n:>10" })],
    ]);
  });
});

describe("POST /logger/search/suggest", () => {
  const suggest = async (body: object) => {
    const answer = await post("/logger/search/suggest", body);
    expect([answer.status, answer.code]).toEqual([200, null]);
    return suggestAnswerSchema.strict().parse(answer.data);
  };

  it("17.5: suggests fields of what the filter leaves, and says what it is based on", async () => {
    const { items, basis, start, end } = await suggest({ query: "category:http r", position: 15 });
    expect(items[0]).toEqual({ text: "route:", kind: "field", type: "string", count: 30 });
    expect([start, end]).toEqual([14, 15]);
    expect(basis).toEqual({
      kind: "sample",
      entries: 30,
      complete: true,
      from: expect.any(String),
      to: expect.any(String),
    });
    expect((await suggest({ query: "category:cache r" })).items.map(({ text }) => text)).not.toContain("route:");
  });

  it("17.5: suggests values with counts: stored ones of level, category and type, else of the sample", async () => {
    const categories = await suggest({ query: "level:info category:" });
    expect(categories.items.slice(0, 2)).toEqual([
      { text: "cache", kind: "value", count: 30 },
      { text: "http", kind: "value", count: 24 },
    ]);
    expect(categories.basis).toEqual({ kind: "counts", entries: 54, complete: true });
    const statuses = await suggest({ query: "status:" });
    expect(statuses.items.slice(0, 2)).toEqual([
      { text: "200", kind: "value", count: 24 },
      { text: "504", kind: "value", count: 6 },
    ]);
    expect((await suggest({ query: "status:5 ms:<5", position: 8 })).items).toEqual([
      { text: "504", kind: "value", count: 1 },
    ]);
    expect((await suggest({ query: "level:", from: Date.now() - 0.5 * MINUTE })).items[0]).toMatchObject({ count: 1 });
  });

  it("17.5: suggests from the newest entries if few or none pass the rest of the query", async () => {
    const { items, basis } = await suggest({ query: "no-such-text rou", position: 16 });
    expect(items[0]).toEqual({ text: "route:", kind: "field", type: "string", count: 30 });
    expect(basis).toMatchObject({ kind: "newest", entries: 60, complete: false });
  });

  it("17.5: suggests pipes and functions without reading entries, and survives any text", async () => {
    expect(await suggest({ query: "a | to" })).toMatchObject({
      kind: "pipe",
      items: [{ text: "top", kind: "pipe" }],
      basis: { kind: "none", entries: 0 },
    });
    for (const query of ["", "((((", "~/(", 'a:"', "|", "a:~/(/ sta", "\u0000", "x".repeat(8000)]) {
      for (const position of [0, query.length >> 1, query.length + 5]) await suggest({ query, position });
    }
  });
});

describe("q beside filters", () => {
  it("17.2: narrows a query, keeps its relative times over pages, and refuses pipes", async () => {
    const body = { filters: { category: "http" }, q: "status:500..599 time:55m", pagination: { limit: 4 } };
    const first = await post("/logger/query", body);
    expect(first.status).toBe(200);
    const { logs, pagination, asOf } = Object(first.data);
    expect(logs).toHaveLength(4);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const next = await post("/logger/query", { ...body, pagination: { limit: 4, cursor: pagination.nextCursor } });
    expect(Object(next.data)).toMatchObject({ logs: [{ data: { ms: 40 } }, { data: { ms: 50 } }], asOf });
    const again = await post("/logger/query", { ...body, asOf });
    expect(Object(again.data).logs).toEqual(logs);
    const piped = await post("/logger/query", { q: "a | count" });
    expect(piped.details).toEqual([
      {
        path: "q",
        code: "custom",
        message: "Only a filter is accepted here, without pipes.",
        position: 2,
        expected: ["the end"],
      },
    ]);
  });

  it("17.2: narrows histograms and tables", async () => {
    const histogram = await post("/logger/stats", { filters: { category: "http" }, q: "-status:200", interval: "1d" });
    expect(Object(histogram.data).total).toBe(6);
    const table = await post("/logger/stats", {
      q: "status:(504 OR 404)",
      aggregations: [{ fn: "count" }],
      groupBy: ["route"],
    });
    expect(Object(table.data).rows).toEqual([
      ["/orders", 3],
      ["/users", 3],
    ]);
    for (const body of [{ interval: "1d" }, { aggregations: [{ fn: "count" }] }]) {
      const { status, details } = await post("/logger/stats", { ...body, q: "a:>=" });
      expect([status, details]).toEqual([400, [expect.objectContaining({ path: "q", position: 4 })]]);
    }
  });

  it("17.2: narrows a tail, old entries and new ones", async () => {
    const own = await newTenant();
    const logs = (from: number) =>
      Array.from({ length: 10 }, (_, n) => ({ message: `m${from + n}`, data: { n: from + n } }));
    receiptOf(await send(own, logs(0)));
    const tail = await openTail(own.projectId, {
      headers: bearer(own.secret),
      query: `?since=0&q=${encodeURIComponent("n:(3 OR >7) -m9 time:1h")}`,
    });
    receiptOf(await send(own, logs(10)));
    await tail.until(() => tail.seqs.length >= 12);
    expect(tail.seqs).toEqual([4, 9, ...Array.from({ length: 10 }, (_, n) => n + 11)]);
    tail.close();
    const refused = await call(`/logger/${own.projectId}/tail?q=${encodeURIComponent("n:>= x")}`, {
      headers: { ...bearer(own.secret), Upgrade: "websocket" },
    });
    expect([refused.status, refused.details]).toEqual([
      400,
      [expect.objectContaining({ path: "query.q", position: 4 })],
    ]);
  });
});
