import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { bytesField, message, numberField } from "../../../bench/protobuf-fields.ts";
import { snappyBlock } from "../../../bench/snappy.ts";
import { asUser, call, createKey, createTenant, type Tenant } from "../../support/api.ts";
import { sharedServerUrl } from "../../support/shared-server-url.ts";

let url: string;
let tenant: Tenant;
beforeAll(async () => {
  url = await sharedServerUrl();
  tenant = await createTenant(url);
});

interface Sent {
  body: string | Uint8Array<ArrayBuffer>;
  type?: string;
  key?: string | null;
  headers?: Record<string, string>;
}

/** Sends a body as a client of another protocol does. */
async function send(path: string, { body, type, key = `Bearer ${tenant.key.secret}`, headers = {} }: Sent) {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    body: typeof body === "string" ? new TextEncoder().encode(body) : body,
    headers: { ...(type ? { "Content-Type": type } : {}), ...(key ? { Authorization: key } : {}), ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}

interface Row {
  message: string;
  level: string;
  timestamp: string;
  service?: string;
  host?: string;
  data?: Record<string, unknown>;
}

/** Finds the entries of one test, whose texts contain its mark, the oldest first. */
async function find(mark: string): Promise<Row[]> {
  const { status, body } = await call<{ logs: Row[] }>(url, "/logger/query", {
    token: tenant.key.secret,
    body: { filters: { search: mark }, pagination: { limit: 1000 } },
  });
  expect(status).toBe(200);
  return body.data.logs.toReversed();
}

let nanoseconds = BigInt(Date.now()) * 1_000_000n;
/** The next time, a millisecond after the one before. */
const nextTime = () => (nanoseconds += 1_000_000n);
const iso = () => new Date(Number(nextTime() / 1_000_000n)).toISOString();
const seconds = () => Number(nextTime() / 1_000_000n) / 1000;

function lokiJson(mark: string): string {
  const values = [
    [`${nextTime() + 123n}`, `${mark} plain`],
    [`${nextTime()}`, JSON.stringify({ level: 50, msg: `${mark} json`, order: 7 })],
  ];
  return JSON.stringify({ streams: [{ stream: { service_name: "shop", hostname: "web-1" }, values }] });
}

function lokiProtobuf(mark: string): Uint8Array<ArrayBuffer> {
  const time = nextTime();
  const stamp = message(numberField(1, time / 1_000_000_000n), numberField(2, time % 1_000_000_000n));
  const entry = message(bytesField(1, stamp), bytesField(2, `${mark} snappy`));
  const stream = message(bytesField(1, '{app="api", level="warn"}'), bytesField(2, entry));
  return new Uint8Array(snappyBlock(message(bytesField(1, stream))));
}

test("Loki: JSON and Snappy protobuf are stored with 204, and a repeated body is stored once", async () => {
  const json = lokiJson("lokiMark");
  for (const headers of [{}, { "X-Scope-OrgID": "t" }]) {
    const sent = await send("/loki/api/v1/push", { body: json, type: "application/json", headers });
    expect([sent.status, sent.text]).toEqual([204, ""]);
    expect(sent.headers.get("X-RateLimit-Limit")).not.toBeNull();
  }
  const zipped = await send("/loki/api/v1/push", {
    body: new Uint8Array(gzipSync(json)),
    type: "application/json; charset=utf-8",
    headers: { "Content-Encoding": "gzip" },
  });
  expect(zipped.status).toBe(204);
  const block = lokiProtobuf("lokiMark");
  for (const headers of [{ "Content-Encoding": "snappy" }, {}]) {
    const sent = await send("/loki/api/v1/push", { body: block, type: "application/x-protobuf", headers });
    expect(sent.status).toBe(204);
  }
  const rows = await find("lokiMark");
  expect(rows.map(({ message, level, service }) => [message, level, service])).toEqual([
    ["lokiMark plain", "info", "shop"],
    ["lokiMark json", "error", "shop"],
    ["lokiMark snappy", "warn", "api"],
  ]);
  expect(rows[1]).toMatchObject({ host: "web-1", data: { order: 7, labels: { hostname: "web-1" } } });
});

test("Loki: errors are text, and the health check answers", async () => {
  const type = "application/json";
  for (const [sent, status] of [
    [{ body: "{", type }, 400],
    [{ body: "no Snappy" }, 400],
    [{ body: '{"message":"no push"}', type }, 400],
    [{ body: new Uint8Array([0xff, 0xff, 0xff, 0x7f]) }, 413],
    [{ body: "{}", type, key: null }, 401],
    [{ body: "{}", type, key: "Bearer sk_unknown" }, 401],
    [{ body: "x", type, headers: { "Content-Encoding": "br" } }, 415],
  ] as const) {
    const answer = await send("/loki/api/v1/push", sent);
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([status, "text/plain; charset=utf-8"]);
    expect(answer.text).toMatch(/^\S.*\n$/);
  }
  expect((await send("/loki/api/v1/push", { body: '{"streams":[]}', type })).status).toBe(204);
  const partial = `{"streams":[{"stream":{},"values":[["${nextTime()}","lokiPartial"],5]}]}`;
  const answer = await send("/loki/api/v1/push", { body: partial, type });
  expect([answer.status, answer.text.startsWith("1 of 2 entries")]).toEqual([400, true]);
  expect((await find("lokiPartial")).length).toBe(1);
  const ready = await fetch(`${url}/ready`);
  expect([ready.status, await ready.text()]).toEqual([200, "ready\n"]);
});

test("Elasticsearch: bulk answers an item for each action, and the handshake satisfies agents", async () => {
  const body = [
    '{"index":{"_index":"logs"}}',
    `{"@timestamp":"${iso()}","message":"bulkMark one","log.level":"warn","service":{"name":"shop"}}`,
    '{"delete":{"_id":"1"}}',
    '{"create":{}}',
    `{"@timestamp":"${iso()}","message":"bulkMark two","host":{"name":"h"}}`,
    "",
  ].join("\n");
  const types = [
    "application/x-ndjson",
    "application/vnd.elasticsearch+x-ndjson;compatible-with=8",
    "application/json",
  ];
  for (const [at, type] of types.entries()) {
    const path = ["/es/_bulk", "/es/web/_bulk?pipeline=x", "/_bulk"][at] ?? "";
    const key = at === 0 ? `ApiKey ${tenant.key.secret}` : `Basic ${btoa(`user:${tenant.key.secret}`)}`;
    const sent = await send(path, { body: body.replaceAll("bulkMark", `bulkMark${at}`), type, key });
    expect(sent.status).toBe(200);
    expect(sent.headers.get("X-Elastic-Product")).toBe("Elasticsearch");
    const { errors, items } = sent.json();
    expect(errors).toBe(true);
    const names = items.map((item: object) => Object.entries(item).map(([name, { status }]) => [name, status]));
    expect(names).toEqual([[["index", 201]], [["delete", 400]], [["create", 201]]]);
  }
  const rows = await find("bulkMark1");
  expect(rows.map(({ message, level, service, host }) => [message, level, service, host])).toEqual([
    ["bulkMark1 one", "warn", "shop", undefined],
    ["bulkMark1 two", "info", undefined, "h"],
  ]);
  for (const [path, part] of [
    ["/es", '"number":"9.'],
    ["/es/", "You Know, for Search"],
    ["/es/_cluster/health", '"status":"green"'],
    ["/es/_license", '"status":"active"'],
    ["/es/_xpack", "license"],
    ["/es/_nodes/_all/http", "nodes"],
    ["/es/_index_template/x", "{}"],
    ["/es/_ilm/policy/x", "{}"],
    ["/es/_ingest/pipeline/x", "{}"],
  ] as const) {
    const answer = await fetch(`${url}${path}`);
    expect([path, answer.status, answer.headers.get("X-Elastic-Product")]).toEqual([path, 200, "Elasticsearch"]);
    expect(await answer.text()).toContain(part);
    expect((await fetch(`${url}${path}`, { method: "HEAD" })).status).toBe(200);
  }
  const put = await fetch(`${url}/es/_index_template/x`, { method: "PUT", body: "{}" });
  expect(await put.json()).toEqual({ acknowledged: true });
  const refresh = await fetch(`${url}/es/logs/_refresh`, { method: "POST" });
  expect(await refresh.json()).toMatchObject({ _shards: { failed: 0 } });
});

test("Elasticsearch: errors have its shape, also those of searches and of documents outside of bulk", async () => {
  const type = "application/x-ndjson";
  for (const [sent, status, reason] of [
    [{ body: "text", type }, 400, /Malformed action\/metadata line \[1\]/],
    [{ body: "", type }, 400, /no action/],
    [{ body: "{}", type, key: null }, 401, /API key/],
  ] as const) {
    const answer = await send("/es/_bulk", sent);
    expect([answer.status, answer.headers.get("X-Elastic-Product")]).toEqual([status, "Elasticsearch"]);
    expect(answer.json()).toMatchObject({
      status,
      error: { type: expect.any(String), reason: expect.stringMatching(reason) },
    });
  }
  for (const [method, path, status, reason] of [
    ["GET", "/es/logs/_search", 400, /not read/],
    ["POST", "/es/logs/_search?size=1", 405, /POST \/logger\/search/],
    ["POST", "/es/_msearch", 405, /POST \/logger\/search/],
    ["GET", "/es/logs/_doc/1", 400, /not read/],
    ["PUT", "/es/logs/_doc/1", 400, /_bulk/],
    ["POST", "/es/logs/_doc", 405, /_bulk/],
    ["PUT", "/es/logs/log/1", 400, /_bulk/],
    ["PUT", "/es/_bulk", 400, /_bulk/],
    ["DELETE", "/es/logs", 405, /not supported/],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method, ...(method !== "GET" && { body: '{"message":"x"}' }) });
    const seen = [method, path, answer.status, answer.headers.get("X-Elastic-Product")];
    expect(seen).toEqual([method, path, status, "Elasticsearch"]);
    const error = { type: "illegal_argument_exception", reason: expect.stringMatching(reason) };
    expect(await answer.json()).toMatchObject({ status, error });
  }
  for (const path of ["/es/logs", "/es/logs/_alias/x", "/es/_cat/indices"]) {
    expect((await fetch(`${url}${path}`, { method: "HEAD" })).status).toBe(200);
  }
  const handshake = async (Authorization: string) => (await fetch(`${url}/es/`, { headers: { Authorization } })).status;
  expect(await handshake("ApiKey sk_unknown")).toBe(401);
  expect(await handshake(`ApiKey ${tenant.key.secret}`)).toBe(200);
  const invalid = await send("/es/_bulk", { body: '{"index":{}}\n[]\n', type });
  expect([invalid.status, invalid.json().errors]).toEqual([200, true]);
});

test("Splunk HEC: events and lines are stored with Splunk's answers", async () => {
  const key = `Splunk ${tenant.key.secret}`;
  const event = `{"time":${seconds()},"host":"h","event":{"message":"hecMark a","severity":"ERROR"}}{"time":${seconds()},"event":"hecMark b","fields":{"region":"eu"}}`;
  for (let i = 0; i < 2; i++) {
    const sent = await send("/services/collector/event", { body: event, key });
    expect([sent.status, sent.json()]).toEqual([200, { text: "Success", code: 0 }]);
  }
  const raw = await send("/services/collector/raw?host=r&source=s&channel=c", { body: "hecMark c\nhecMark d\n", key });
  expect(raw.json()).toEqual({ text: "Success", code: 0 });
  const broken = await send("/services/collector", { body: `{"time":${seconds()},"event":"hecMark e"}{"event":`, key });
  expect([broken.status, broken.json()]).toEqual([
    400,
    { text: "Invalid data format", code: 6, "invalid-event-number": 1 },
  ]);
  const rows = await find("hecMark");
  expect(rows.map(({ message, level, host }) => [message, level, host]).sort()).toEqual([
    ["hecMark a", "error", "h"],
    ["hecMark b", "info", undefined],
    ["hecMark c", "info", "r"],
    ["hecMark d", "info", "r"],
    ["hecMark e", "info", undefined],
  ]);
  for (const [path, sent, status, code] of [
    ["event", { body: "", key }, 400, 5],
    ["event/1.0", { body: "{", key }, 400, 6],
    ["event", { body: "{}", key: null }, 401, 2],
    ["event", { body: "{}", key: "Splunk sk_unknown" }, 403, 4],
    ["ack?channel=c", { body: '{"acks":[1]}', key }, 400, 14],
  ] as const) {
    const answer = await send(`/services/collector/${path}`, sent);
    expect([answer.status, answer.json().code]).toEqual([status, code]);
  }
  const reader = await createKey(url, tenant.account, tenant.projectId, ["logs:read"]);
  const refused = await send("/services/collector", { body: "{}", key: `Splunk ${reader.secret}` });
  expect([refused.status, refused.json()]).toEqual([
    403,
    { text: "Invalid token", code: 4, detail: "The API key lacks the scope logs:write." },
  ]);
  expect(await (await fetch(`${url}/services/collector/health`)).json()).toEqual({ text: "HEC is healthy", code: 17 });
});

test("Datadog: logs are stored with 202, by keys in every place that its agents use", async () => {
  const writer = await createKey(url, tenant.account, tenant.projectId, ["logs:write"]);
  const log = (name: string) =>
    JSON.stringify([
      {
        message: `ddMark ${name}`,
        status: "warning",
        timestamp: Number(nextTime() / 1_000_000n),
        ddtags: "env:prod",
        service: "shop",
        hostname: "h",
      },
    ]);
  const zipped = new Uint8Array(gzipSync(log("a")));
  const first = await send("/api/v2/logs?ddsource=node", {
    body: zipped,
    type: "application/json",
    key: null,
    headers: { "DD-API-KEY": tenant.key.secret, "Content-Encoding": "gzip" },
  });
  expect([first.status, first.text]).toEqual([202, "{}"]);
  expect((await send(`/api/v2/logs?dd-api-key=${writer.secret}`, { body: log("b"), key: null })).status).toBe(202);
  expect((await send(`/v1/input/${writer.secret}`, { body: "ddMark c\n", key: null })).status).toBe(200);
  expect((await send(`/v1/input/${tenant.key.secret}`, { body: "ddMark d\n", key: null })).status).toBe(403);
  const test = await send("/api/v2/logs", { body: "{}", key: null, headers: { "DD-API-KEY": writer.secret } });
  expect([test.status, test.text]).toEqual([202, "{}"]);
  const rows = await find("ddMark");
  expect(rows.map(({ message }) => message)).toEqual(["ddMark a", "ddMark b", "ddMark c"]);
  expect(rows[0]).toMatchObject({
    level: "warn",
    service: "shop",
    host: "h",
    data: { ddsource: "node", ddtags: { env: "prod" } },
  });
  const wrong = await send("/api/v2/logs", { body: "[]", key: null, headers: { "DD-API-KEY": "sk_unknown" } });
  expect([wrong.status, wrong.json()]).toEqual([
    403,
    { errors: [{ status: "403", title: "Forbidden", detail: expect.any(String) }] },
  ]);
  const validate = (key: string) => fetch(`${url}/api/v1/validate`, { headers: { "DD-API-KEY": key } });
  expect(await (await validate(writer.secret)).json()).toEqual({ valid: true });
  expect((await validate("sk_unknown")).status).toBe(403);
  await call(url, `/projects/${tenant.projectId}/keys/${writer.id}`, { ...asUser(tenant.account), method: "DELETE" });
  expect((await validate(writer.secret)).status).toBe(403);
});
