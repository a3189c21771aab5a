import { beforeAll, describe, expect, test } from "vitest";
import { call, createTenant, type Tenant } from "../../support/api.ts";
import { GRAFANA_REQUESTS, type GrafanaRequest } from "./grafana-requests.ts";

let url: string;
let tenant: Tenant;

const COUNT = 60;
/** Epoch milliseconds. Entries are a second apart, the last one a minute ago. */
const BEGIN = Date.now() - (COUNT + 60) * 1000;

/** Sends a request as Grafana's backend does: Basic authentication, labels by category, times in nanoseconds. */
async function send({ path, params, source, hasTextTimes }: GrafanaRequest): Promise<unknown> {
  const timeOf = (time: number) => (hasTextTimes ? new Date(time).toISOString() : `${time}000000`);
  const [from, to] = [timeOf(BEGIN - 60_000), timeOf(BEGIN + COUNT * 1000)];
  const times = path === "/query" ? { time: to } : { start: from, end: to };
  const search = new URLSearchParams({ ...params, ...times });
  const response = await fetch(`${url}/loki/api/v1${path}?${search}`, {
    headers: {
      Authorization: `Basic ${btoa(`key:${tenant.key.secret}`)}`,
      "X-Loki-Response-Encoding-Flags": "categorize-labels",
      ...(source === undefined ? {} : { "X-Query-Tags": `Source=${source}` }),
    },
  });
  const text = await response.text();
  expect([response.status, text.slice(0, 300)]).toEqual([200, expect.stringMatching(/^\{/)]);
  return JSON.parse(text);
}

const NUMBER = expect.stringMatching(/^-?\d+(\.\d+)?(e[+-]?\d+)?$/);
const TEXTS = expect.toSatisfy((value: unknown) =>
  Object.values(Object(value)).every((each) => typeof each === "string"),
);
/** One of an array's elements at least, and each of them, has a shape. */
const some = (shape: unknown) =>
  expect.toSatisfy((list: unknown[]) => {
    expect(list.length).toBeGreaterThan(0);
    for (const each of list) expect(each).toEqual(shape);
    return true;
  });
const data = (resultType: string, result: unknown, more: object = {}) => ({
  status: "success",
  data: { resultType, result, stats: expect.any(Object), ...more },
});
const POINT = [expect.any(Number), NUMBER];
const CATEGORIES = expect.toSatisfy((labels: Record<string, unknown>) => {
  expect(["structuredMetadata", "parsed"]).toEqual(expect.arrayContaining(Object.keys(labels)));
  for (const each of Object.values(labels)) expect(each).toEqual(TEXTS);
  return true;
});
const NAMES = some(expect.any(String));

/** What the converter of Grafana's backend reads of each kind of answer. */
const SHAPES: Readonly<Record<GrafanaRequest["expected"], unknown>> = {
  streams: data(
    "streams",
    some({
      stream: TEXTS,
      values: some([expect.stringMatching(/^\d{19}$/), expect.any(String), CATEGORIES]),
    }),
    { encodingFlags: ["categorize-labels"] },
  ),
  matrix: data("matrix", some({ metric: TEXTS, values: some(POINT) })),
  vector: data("vector", some({ metric: TEXTS, value: POINT })),
  scalar: data("scalar", POINT),
  names: { status: "success", data: NAMES },
  series: { status: "success", data: some(TEXTS) },
  stats: { streams: 2, chunks: 0, entries: COUNT, bytes: expect.any(Number) },
  fields: {
    fields: some({
      ...{ label: expect.any(String), type: expect.any(String), cardinality: expect.any(Number) },
      parsers: expect.toSatisfy((parsers) => parsers === null || parsers.includes("json")),
    }),
    limit: 1000,
  },
  values: { values: ["200", "404"], limit: 10 },
  labels: { detectedLabels: some({ label: expect.any(String), cardinality: expect.any(Number) }) },
  patterns: {
    status: "success",
    data: some({ pattern: expect.any(String), samples: some([expect.any(Number), expect.any(Number)]) }),
  },
};

/** Sends each recorded request to a server, and compares the answer with what Grafana's code reads. */
export function testGrafana(urlOf: () => string): void {
  describe("requests of Grafana", () => {
    beforeAll(async () => {
      url = urlOf();
      tenant = await createTenant(url);
      const entries = Array.from({ length: COUNT }, (_, at) => ({
        timestamp: new Date(BEGIN + at * 1000).toISOString(),
        ...{ level: at % 4 === 0 ? "error" : "info", service: "shop", host: "eu-1", category: "http", type: "request" },
        message: `POST /orders answered in ${at} ms`,
        traceId: `t${at}`,
        data: { route: "POST /orders", status: at % 4 === 0 ? 404 : 200, ms: at },
      }));
      const answer = await call(url, `/logger/${tenant.projectId}/log`, {
        token: tenant.key.secret,
        body: { logs: entries },
      });
      expect(answer.status).toBe(201);
    });

    test.for(GRAFANA_REQUESTS.map((each) => [each.panel, each] as const))("%s", async ([, request]) => {
      expect(await send(request)).toEqual(SHAPES[request.expected]);
    });
  });
}
