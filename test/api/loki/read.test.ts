import { WebSocket } from "undici";
import { beforeAll, describe, expect, test } from "vitest";
import { createKey, createTenant, type Tenant } from "../../support/api.ts";
import { sharedServerUrl } from "../../support/shared-server-url.ts";
import { testGrafana } from "./grafana.ts";

let url: string;
let tenant: Tenant;
/** Epoch milliseconds of the first entry, a whole minute. */
const BEGIN = Math.floor((Date.now() - 1_800_000) / 60_000) * 60_000;
const COUNT = 120;

const ns = (milliseconds: number) => `${milliseconds}000000`;

/** Entry `at` is `at` seconds after the first. Every third is an error, every second of service `api`. */
function entryAt(at: number) {
  const status = at % 3 === 0 ? 500 : 200;
  return { service: at % 2 === 0 ? "api" : "web", level: status === 500 ? "error" : "info", status, took: `${at}ms` };
}

beforeAll(async () => {
  url = await sharedServerUrl();
  tenant = await createTenant(url);
  const streams = Array.from({ length: COUNT }, (_, at) => {
    const { service, level, status, took } = entryAt(at);
    const line =
      at < COUNT / 2 ? JSON.stringify({ msg: `job ${at} done`, status, took }) : `job ${at} status=${status}`;
    return {
      stream: { service, level, job: "batch" },
      values: [[ns(BEGIN + at * 1000), line, { trace_id: `t${at}` }]],
    };
  });
  const response = await fetch(`${url}/loki/api/v1/push`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${tenant.key.secret}` },
    body: JSON.stringify({ streams }),
  });
  expect(response.status).toBe(204);
});

const RANGE = { start: ns(BEGIN), end: ns(BEGIN + COUNT * 1000) };

interface Answer {
  status: number;
  text: string;
  json: () => never;
  headers: Headers;
}

async function get(
  path: string,
  params: Record<string, string> = {},
  authorization = `Bearer ${tenant.key.secret}`,
): Promise<Answer> {
  const response = await fetch(`${url}/loki/api/v1${path}?${new URLSearchParams(params)}`, {
    headers: { Authorization: authorization },
  });
  const text = await response.text();
  // SAFETY: a test states by its use what the answer is.
  return { status: response.status, text, headers: response.headers, json: () => JSON.parse(text) as never };
}

interface Streams {
  data: { resultType: string; result: { stream: Record<string, string>; values: [string, string][] }[] };
}
interface Metric {
  data: {
    resultType: string;
    result: { metric: Record<string, string>; values: [number, string][]; value: [number, string] }[];
  };
}

async function entries(query: string, params: Record<string, string> = {}) {
  const answer = await get("/query_range", { query, ...RANGE, limit: "1000", ...params });
  expect(answer.text.slice(0, 300)).toContain('"status":"success"');
  const { data }: Streams = answer.json();
  expect(data.resultType).toBe("streams");
  return data.result.flatMap(({ stream, values }) => values.map(([time, line]) => ({ time, line, stream })));
}

async function metric(query: string, params: Record<string, string> = {}): Promise<Metric["data"]["result"]> {
  const answer = await get("/query_range", { query, ...RANGE, step: "60", ...params });
  expect(answer.text.slice(0, 300)).toContain('"status":"success"');
  const { data }: Metric = answer.json();
  expect(data.resultType).toBe("matrix");
  return data.result;
}

const indexes = Array.from({ length: COUNT }, (_, at) => at);

describe("entries", () => {
  test("have the labels of their stream, structured metadata, and the line as sent or as JSON", async () => {
    const found = await entries('{service="web", job="batch"}');
    expect(found).toHaveLength(COUNT / 2);
    const first = found.find(({ time }) => time === ns(BEGIN + 1000));
    expect(first?.stream).toEqual({
      ...{ project: tenant.projectId, service: "web", level: "info", category: "custom", type: "log" },
      ...{ job: "batch", detected_level: "info", trace_id: "t1" },
    });
    expect(JSON.parse(first?.line ?? "")).toEqual({ message: "job 1 done", status: 200, took: "1ms" });
    expect(found.map(({ line }) => line)).toContain("job 119 status=200");
  });

  test.for<[string, (at: number) => boolean]>([
    ['{level="error"} |= "job"', (at) => at % 3 === 0],
    ['{service=~"a.*|x", level!="error"}', (at) => at % 2 === 0 && at % 3 !== 0],
    ['{service="api"} | json | __error__="" | status >= 500', (at) => at < 60 && at % 6 === 0],
    ['{service="api"} | logfmt | status="500"', (at) => at >= 60 && at % 6 === 0],
    ['{service=~".+"} | json | took > 50ms and took <= 55ms | __error__=""', (at) => at > 50 && at <= 55],
    ['{job="batch"} |~ "job (7|8) " or "119"', (at) => [7, 8, 119].includes(at)],
    ['{job="batch"} | trace_id="t5"', (at) => at === 5],
    ['{job="other"}', () => false],
    [`{project="${"x"}"}`, () => false],
  ])("%s", async ([query, passes]) => {
    const found = await entries(query, { direction: "forward" });
    const times = found.map(({ time }) => time).sort();
    expect(times).toEqual(indexes.filter(passes).map((at) => ns(BEGIN + at * 1000)));
  });

  test("are the first of their direction up to the limit, apart by the interval", async () => {
    const last = await entries('{job="batch"} |= "job"', { limit: "3" });
    expect(last.map(({ time }) => time).sort()).toEqual([117, 118, 119].map((at) => ns(BEGIN + at * 1000)));
    const apart = await entries('{job="batch"}', { direction: "forward", interval: "50s" });
    expect(apart.map(({ time }) => time).sort()).toEqual([0, 50, 100].map((at) => ns(BEGIN + at * 1000)));
    const none = await entries('{job="batch"}', { end: RANGE.start, start: ns(BEGIN - 1000) });
    expect(none).toEqual([]);
  });

  test("templates make lines and labels", async () => {
    const query =
      '{service="api"} | json | status=500 | label_format code=status | line_format "{{.code}} {{.message | ToUpper}}" | keep code';
    const [one] = await entries(query, { direction: "forward", limit: "1" });
    expect(one).toMatchObject({ line: "500 JOB 0 DONE", stream: { code: "500" } });
  });

  test("labels by category, if the client asks for them", async () => {
    const response = await fetch(`${url}/loki/api/v1/query_range`, {
      method: "POST",
      headers: {
        Authorization: `Basic ${Buffer.from(`grafana:${tenant.key.secret}`).toString("base64")}`,
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Loki-Response-Encoding-Flags": "categorize-labels",
      },
      body: new URLSearchParams({ query: '{job="batch"} | json | trace_id="t2"', ...RANGE }),
    });
    const { data } = JSON.parse(await response.text());
    expect(data.encodingFlags).toEqual(["categorize-labels"]);
    expect(data.result[0].stream).toEqual({
      ...{ project: tenant.projectId, service: "api", level: "info", category: "custom", type: "log", job: "batch" },
    });
    expect(data.result[0].values[0][2]).toEqual({
      structuredMetadata: { detected_level: "info", trace_id: "t2" },
      parsed: { message: "job 2 done", status: "200", took: "2ms" },
    });
  });
});

describe("metrics", () => {
  test("windows end at their instant: (t - range, t]", async () => {
    const [series] = await metric('sum(count_over_time({job="batch"}[1m]))');
    // At the first instant only the entry of that instant.
    expect(series?.values).toEqual([
      [BEGIN / 1000, "1"],
      [BEGIN / 1000 + 60, "60"],
      [BEGIN / 1000 + 120, "59"],
    ]);
  });

  test("group by labels of streams and of lines", async () => {
    const byLevel = await metric('sum by (level) (rate({job="batch"}[2m]))', { start: RANGE.end, end: RANGE.end });
    expect(byLevel.map(({ metric, values }) => [metric, Number(values[0]?.[1])])).toEqual([
      [{ level: "error" }, 39 / 120],
      [{ level: "info" }, 80 / 120],
    ]);
    const byStatus = await metric('sum by (status) (count_over_time({job="batch"} | json | __error__="" [2m]))', {
      ...{ start: ns(BEGIN + 59_000), end: ns(BEGIN + 59_000), step: "1" },
    });
    expect(byStatus.map(({ metric, values }) => [metric.status, values[0]?.[1]])).toEqual([
      ["200", "40"],
      ["500", "20"],
    ]);
  });

  test("unwrap numbers, durations and sizes; quantiles, topk and arithmetic", async () => {
    const at = { start: ns(BEGIN + 59_000), end: ns(BEGIN + 59_000), step: "1" };
    const value = async (query: string) => Number((await metric(query, at))[0]?.values[0]?.[1]);
    expect(
      await value('sum(sum_over_time({job="batch"} | json | unwrap duration(took) | __error__="" [1m]))'),
    ).toBeCloseTo(1.77);
    expect(await value('max(max_over_time({job="batch"} | json | unwrap status [1m]))')).toBe(500);
    expect(
      await value('quantile_over_time(0.5, {job="batch"} | json | unwrap duration(took) [1m]) by (job)'),
    ).toBeCloseTo(0.0295);
    expect(
      await value('last_over_time({service="web"} | json | unwrap duration(took) [1m]) by (service) * 1000'),
    ).toBeCloseTo(59);
    const top = await metric('topk(1, sum by (level) (count_over_time({job="batch"}[1m])))', at);
    expect(top.map(({ metric }) => metric)).toEqual([{ level: "info" }]);
    const absent = await metric('absent_over_time({job="none", level="error"}[1m])', at);
    expect(absent).toEqual([{ metric: { job: "none", level: "error" }, values: [[BEGIN / 1000 + 59, "1"]] }]);
  });

  test("steps are multiples of the step, from the last one up to the start to the first one from the end on", async () => {
    const [all] = await metric('sum(count_over_time({job="batch"}[1m]))', {
      ...{ start: ns(BEGIN + 61_001), end: ns(BEGIN + 61_002), step: "20s" },
    });
    expect(all?.values).toEqual([
      [BEGIN / 1000 + 60, "60"],
      [BEGIN / 1000 + 80, "60"],
    ]);
  });

  test("an instant has a vector; Grafana's health check is one", async () => {
    const health = await get("/query", { query: "vector(1)+vector(1)", time: "4000000000" });
    const { data }: Metric = health.json();
    expect(data).toMatchObject({ resultType: "vector", result: [{ metric: {}, value: [4_000_000_000, "2"] }] });
  });

  test("an error of a line is an error of the metric, unless it is filtered or no label is read", async () => {
    const failing = await get("/query_range", { query: 'count_over_time({job="batch"} | json [5m])', ...RANGE });
    expect([failing.status, failing.text]).toEqual([400, expect.stringContaining("pipeline error: 'JSONParserErr'")]);
    expect(await metric('sum(count_over_time({job="batch"} | json [5m]))')).toHaveLength(1);
  });
});

describe("labels, streams and fields", () => {
  test("names, values and series", async () => {
    expect((await get("/labels", RANGE)).json()).toEqual({
      status: "success",
      data: ["category", "host", "job", "level", "project", "service", "type"],
    });
    expect((await get("/label/service/values", RANGE)).json()).toEqual({ status: "success", data: ["api", "web"] });
    const narrowed = await get("/label/level/values", { ...RANGE, query: '{service="api", level=~"e.*"}' });
    expect(narrowed.json()).toEqual({ status: "success", data: ["error"] });
    expect((await get("/label/job/values", RANGE)).json()).toEqual({ status: "success", data: ["batch"] });
    const { data }: { data: Record<string, string>[] } = (
      await get("/series", { ...RANGE, "match[]": '{level="error"}' })
    ).json();
    expect(data.map(({ service, level, job }) => [service, level, job]).sort()).toEqual([
      ["api", "error", "batch"],
      ["web", "error", "batch"],
    ]);
  });

  test("counts and volumes", async () => {
    const lines = await entries('{service="web"}');
    const bytes = lines.reduce((sum, { line }) => sum + line.length, 0);
    const stats = await get("/index/stats", { ...RANGE, query: '{service="web"}' });
    expect(stats.json()).toEqual({ streams: 2, chunks: 0, entries: COUNT / 2, bytes });
    const volume: Metric = (await get("/index/volume", { ...RANGE, query: '{service="web"}' })).json();
    expect(volume.data.result).toMatchObject([
      { metric: { service: "web" }, value: [expect.any(Number), String(bytes)] },
    ]);
    const ranges: Metric = (
      await get("/index/volume_range", { ...RANGE, query: '{job="batch"}', targetLabels: "level", step: "60" })
    ).json();
    expect(ranges.data.result.map(({ metric }) => metric.level).sort()).toEqual(["error", "info"]);
  });

  test("detected labels and fields, and patterns that add up", async () => {
    const labels = (await get("/detected_labels", RANGE)).json() as {
      detectedLabels: { label: string; cardinality: number }[];
    };
    expect(labels.detectedLabels).toContainEqual({ label: "service", cardinality: 2 });
    const fields = (await get("/detected_fields", { ...RANGE, query: '{service="web"}' })).json() as {
      fields: object[];
    };
    expect(fields.fields).toContainEqual({ label: "status", type: "int", cardinality: 2, parsers: ["logfmt", "json"] });
    const values = await get("/detected_field/status/values", { ...RANGE, query: '{service="web"}' });
    expect(values.json()).toEqual({ values: ["200", "500"], limit: 1000 });
    const patterns = (await get("/patterns", { ...RANGE, query: '{job="batch"}' })).json() as {
      data: { samples: [number, number][] }[];
    };
    const total = patterns.data.flatMap(({ samples }) => samples).reduce((sum, [, count]) => sum + count, 0);
    expect([patterns.data.length > 1, total]).toEqual([true, COUNT]);
  });

  test("formatted queries, build and readiness", async () => {
    const formatted = await get("/format_query", { query: '{a="b"}|json|x>1' });
    expect(formatted.json()).toEqual({ status: "success", data: '{a="b"} | json | x > 1' });
    expect((await get("/status/buildinfo")).json()).toMatchObject({ version: expect.stringMatching(/^3\./) });
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });
});

describe("requests that are refused", () => {
  test.for<[string, Record<string, string>, string]>([
    ["/query_range", { query: '{a="b"} | pattern "<x>"' }, "parse error at line 1, col 11: | pattern is not supported"],
    ["/query_range", { query: '{a="b"} |~ "("' }, "error parsing regexp"],
    ["/query_range", {}, "query: is required"],
    ["/query_range", { query: '{a="b"}', limit: "5001" }, "max entries limit"],
    ["/query_range", { query: '{a="b"}', direction: "up" }, "invalid direction"],
    [
      "/query_range",
      { query: 'rate({a="b"}[1m])', start: "0", end: "1795435200", step: "1" },
      "exceeded maximum resolution",
    ],
    ["/query_range", { query: '{a="b"}', start: "x" }, "start: must be"],
    ["/query", { query: '{a="b"}' }, "log queries are not supported as an instant query type"],
    ["/patterns", { query: 'rate({a="b"}[1m])' }, "only log selector is supported"],
    ["/series", { "match[]": '{a="b"} |= "c"' }, "unexpected |="],
  ])("%s %o", async ([path, params, message]) => {
    const answer = await get(path, params);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
    expect(answer.headers.get("Content-Type")).toContain("text/plain");
  });

  test("credentials: none, of no key, and a key that only writes", async () => {
    const query = { query: "vector(1)" };
    const writer = await createKey(url, tenant.account, tenant.projectId, ["logs:write"]);
    const statuses = [];
    for (const authorization of ["", "Bearer sk_nonsense", `Bearer ${writer.secret}`])
      statuses.push((await get("/query", query, authorization)).status);
    expect(statuses).toEqual([401, 401, 403]);
  });

  test("every request counts under the limit of queries", async () => {
    const remaining = async (path: string, params: Record<string, string>) =>
      Number((await get(path, params)).headers.get("X-RateLimit-Remaining"));
    const before = await remaining("/labels", RANGE);
    for (const [at, path] of ["/query", "/format_query", "/status/buildinfo"].entries())
      expect(await remaining(path, { query: "vector(1)" })).toBe(before - 1 - at);
    expect(await remaining("/query_range", { query: "{" })).toBe(before - 4);
  });
});

test("a tail begins with what there is, and goes on with what is committed", async () => {
  const params = new URLSearchParams({ query: '{service="tailed"} | json | n > 0', limit: "10" });
  const push = async (n: number) => {
    const streams = [
      { stream: { service: "tailed" }, values: [[ns(Date.now()), JSON.stringify({ msg: `tail ${n}`, n })]] },
    ];
    const response = await fetch(`${url}/loki/api/v1/push`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${tenant.key.secret}` },
      body: JSON.stringify({ streams }),
    });
    expect(response.status).toBe(204);
  };
  await push(1);
  const socket = new WebSocket(`${url.replace("http", "ws")}/loki/api/v1/tail?${params}`, {
    headers: { Authorization: `Bearer ${tenant.key.secret}` },
  });
  const lines: string[] = [];
  let wake = () => {};
  socket.addEventListener("message", ({ data }) => {
    for (const { values } of JSON.parse(String(data)).streams)
      for (const [, line] of values) lines.push(JSON.parse(line).message);
    wake();
  });
  const until = async (line: string) => {
    while (!lines.includes(line))
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  };
  await until("tail 1");
  for (const n of [0, 2, 3]) await push(n);
  await until("tail 3");
  expect(lines).toEqual(["tail 1", "tail 2", "tail 3"]);
  socket.close();
});

testGrafana(() => url);
