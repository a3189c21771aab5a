import { exports } from "cloudflare:workers";
import { deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Scope } from "../../../src/keys/scopes.ts";
import { DEFAULT_SETTINGS } from "../../../src/keys/settings.ts";
import { largeBodies, smallBodies } from "../../../src/platform/isolate-memory.ts";
import { refuseResult, STAGING } from "../../../src/routes/logs/send-entries.ts";
import { addKey, evict, messagesOf, newTenant, onSql, storedEntries, type Tenant } from "../ingest/support.ts";

const WRITE: readonly Scope[] = ["logs:write"];
let tenant: Tenant;
beforeEach(async () => {
  tenant = await newTenant();
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
  headers: Headers;
}

/** Sends a request to a door, with the tenant's key unless `headers` or the path have one. */
async function post(
  body: BodyInit | null,
  {
    path = "/ingest",
    headers = {},
    key = tenant.secret,
  }: { path?: string; headers?: Record<string, string>; key?: string | null } = {},
): Promise<Answer> {
  const authorization = key === null ? {} : { Authorization: `Bearer ${key}` };
  const request = new Request(`http://taffrail.test${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...authorization, ...headers },
    body,
  });
  const response = await exports.default.fetch(request);
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const accepted = (count: number, more: object = {}) => ({
  status: 200,
  body: { accepted: count, rejected: 0, duplicate: false, ...more },
});
const entries = async () => (await storedEntries(tenant.workspaceId)).map(({ entry }) => entry);
const ms = () => new Date(Date.now() - 5_000 + Math.random()).toISOString().replace(/\d{3}Z$/, "123Z");
/** Sends a request to a door whose answers are not JSON. */
const statusOf = async (path: string, body: string) => {
  const headers = { Authorization: `Bearer ${tenant.secret}`, "Content-Type": "application/json" };
  const request = new Request(`http://taffrail.test${path}`, { method: "POST", headers, body });
  return (await exports.default.fetch(request)).status;
};
const merged = () =>
  onSql(tenant.workspaceId, (sql) =>
    sql.exec("SELECT reason, entries, requests FROM ledger ORDER BY reason").toArray(),
  );

describe("POST /ingest", () => {
  it.each([
    ["NDJSON", '{"msg":"a"}\n{"msg":"b"}\n'],
    ["objects one after the other", '{"msg":"a"}{"msg":\n"b"}'],
    ["an array", ' [{"msg":"a"},\n{"msg":"b"}]'],
    ["an object with logs", '{ "logs": [{"msg":"a"},{"msg":"b"}]}'],
    ["an object with events", '{"events":[{"msg":"a"},{"msg":"b"}],"source":"x"}'],
    ["one object", '{\n"msg":"a"}'],
    ["texts", '["a","b"]'],
    ["lines of text", "a\nb"],
    ["a line that is not JSON among others", '{"msg":"a"}\nb\n'],
  ])("accepts %s", async (form, body) => {
    const expected = form === "one object" ? ["a"] : ["a", "b"];
    const type = form === "lines of text" ? "text/plain" : "application/json";
    expect(await post(body, { headers: { "Content-Type": type } })).toMatchObject(accepted(expected.length));
    expect(await messagesOf(tenant)).toEqual(expected);
  });

  it.each(["", "application/x-www-form-urlencoded", "application/jsonl", "application/stream+json", "odd"])(
    "accepts JSON of the media type %s",
    async (type) => {
      expect(await post('{"msg":"a"}', { headers: { "Content-Type": type } })).toMatchObject(accepted(1));
    },
  );

  it("stores what a record says under the names of clients, and everything else", async () => {
    const record = {
      "@timestamp": "2026-01-01T00:00:00.123456Z",
      severity: "NOTICE",
      log: "text\n",
      service: "api",
      n: 1,
    };
    await post(JSON.stringify(record), { path: "/ingest?time=never" });
    const [entry] = await entries();
    expect(entry).toMatchObject({ level: "info", message: "text", data: { n: 1, _taffrail: { level: "NOTICE" } } });
  });

  it("names in the query come first", async () => {
    const sent = { text: "a", message: "b", when: 1795183200, severity: "x", prio: "err" };
    await post(JSON.stringify({ ...sent, when: Math.floor(Date.now() / 1000) }), {
      path: "/ingest?message=nothing,text&time=when&level=prio",
    });
    expect(await entries()).toMatchObject([{ message: "a", level: "error", data: { message: "b", severity: "x" } }]);
  });

  it("counts null as rejected, and stores the others", async () => {
    expect(await post('[{"msg":"a"},null]')).toMatchObject(accepted(1, { rejected: 1 }));
    expect(await post("[null]")).toMatchObject(accepted(0, { rejected: 1 }));
    expect(await merged()).toEqual([{ reason: "rejected", entries: 2, requests: 2 }]);
  });

  it.each([
    ["JSON that ends early", '{"a":1', 400],
    ["no JSON", "hello", 400],
    ["binary", new Uint8Array([0x0a, 0x03, 0x00, 0x01]), 400],
    ["21,000 records", "{}\n".repeat(21_000), 413],
    ["an array of 60,000 records", `[${'{"a":1},'.repeat(60_000)}{}]`, 413],
    ["more than 20 MiB", `[${" ".repeat(20 * 1024 * 1024)}]`, 413],
  ] as const)("refuses %s", async (_, body, status) => {
    const answer = await post(body);
    expect(answer).toMatchObject({ status, body: { error: { message: expect.any(String) } } });
    expect(answer.headers.get("X-RateLimit-Remaining")).toBe("999");
    expect(await entries()).toEqual([]);
    expect([largeBodies.held, smallBodies.held]).toEqual([0, 0]);
  });

  it("stores 20,000 records of a request, and an empty request stores nothing", async () => {
    const body = Array.from({ length: 20_000 }, (_, i) => `{"msg":"m${i}","pad":"${"x".repeat(100)}"}`).join("\n");
    expect(await post(body)).toMatchObject(accepted(20_000));
    expect(await messagesOf(tenant)).toEqual(Array.from({ length: 20_000 }, (_, i) => `m${i}`));
    expect(await post("")).toMatchObject(accepted(0));
    expect(await post(null)).toMatchObject(accepted(0));
  });
});

it.each(["/v1/logs", "/api/v2/logs", "/loki/api/v1/push", "/gelf"])(
  "finding 12: too many entries are 413 at %s",
  async (path) => {
    const list = (item: string) => `[${`${item},`.repeat(60_000)}${item}]`;
    const bodies: Record<string, string> = {
      "/v1/logs": `{"resourceLogs":[{"scopeLogs":[{"logRecords":${list("{}")}}]}]}`,
      "/loki/api/v1/push": `{"streams":[{"stream":{},"values":${list('["1","a"]')}}]}`,
    };
    expect(await statusOf(path, bodies[path] ?? list('{"a":1}'))).toBe(413);
  },
);

it("finding 10: records whose times are durations are stored as often as they are sent", async () => {
  const bodies = ['{"msg":"GET /health 200","time":0.003}', '{"ts":12.345}', '{"timestamp":"1999-01-01T00:00:00.5Z"}'];
  for (const body of [...bodies, ...bodies]) expect(await post(body)).toMatchObject(accepted(1));
  const gelf = `{"version":"1.1","host":"h","short_message":"m","timestamp":3.25}`;
  for (const _ of [1, 2]) expect(await statusOf("/gelf", gelf)).toBe(202);
  expect(await entries()).toHaveLength(8);
});

it("finding 20: terms that keep changing are 503", () => {
  // SAFETY: the function does not use the context for these results.
  const c = null as unknown as Parameters<typeof refuseResult>[0];
  const terms = { settings: DEFAULT_SETTINGS, settingsVersion: 1, oldest: 0 };
  for (const result of [
    { ok: false, code: "TOO_OLD", oldest: 0 },
    { ok: false, code: "STALE_SETTINGS", ...terms },
  ] as const) {
    expect(() => refuseResult(c, result)).toThrow(
      expect.objectContaining({ refusal: expect.objectContaining({ code: "SERVICE_UNAVAILABLE" }) }),
    );
  }
});

describe("encodings", () => {
  const line = (i: number) => `{"msg":"m${i}","id":"${crypto.randomUUID()}"}\n`;
  const small = Array.from({ length: 10 }, (_, i) => line(i)).join("");
  const large = Array.from({ length: 5_000 }, (_, i) => line(i)).join("");
  const zstd = (text: string) => {
    const frames: Uint8Array[] = [];
    for (let at = 0; at < text.length; at += 100_000) frames.push(zstdCompressSync(text.slice(at, at + 100_000)));
    return Buffer.concat(frames);
  };
  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["deflate", deflateRawSync],
    ["zstd", zstd],
  ] as const)("%s is inflated, small or large", async (encoding, compress) => {
    const headers = { "Content-Encoding": encoding };
    expect(await post(compress(small), { headers })).toMatchObject(accepted(10));
    expect(await post(compress(large), { headers })).toMatchObject(accepted(5_000));
    expect((await messagesOf(tenant)).slice(10)).toEqual(Array.from({ length: 5_000 }, (_, i) => `m${i}`));
  });

  it("a body that is not of its encoding is 400, an unknown encoding is 415", async () => {
    for (const encoding of ["gzip", "deflate", "zstd"]) {
      for (const body of [small, large]) {
        expect(await post(body, { headers: { "Content-Encoding": encoding } })).toMatchObject({ status: 400 });
      }
      const compress = encoding === "gzip" ? gzipSync : encoding === "deflate" ? deflateSync : zstd;
      const cut = compress(large).subarray(0, 100_000);
      expect(await post(cut, { headers: { "Content-Encoding": encoding } })).toMatchObject({ status: 400 });
    }
    for (const encoding of ["br", "gzip, gzip", "compress"]) {
      expect(await post(small, { headers: { "Content-Encoding": encoding } })).toMatchObject({ status: 415 });
    }
    expect(await entries()).toEqual([]);
  });

  it("a bomb is 413, and takes little memory", async () => {
    const zeros = Buffer.alloc(64 * 1024 * 1024, " ");
    const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]);
    const repeated = Buffer.from([0x02, 0x00, 0x10, 0x20]);
    const zstdBomb = Buffer.concat([header, ...Array.from({ length: 8_000 }, () => repeated), Buffer.from([1, 0, 0])]);
    const bombs = { gzip: gzipSync(zeros), deflate: deflateSync(zeros), zstd: zstdBomb };
    for (const [encoding, bomb] of Object.entries(bombs)) {
      expect(bomb.length).toBeLessThan(70_000);
      expect([encoding, (await post(bomb, { headers: { "Content-Encoding": encoding } })).status]).toEqual([
        encoding,
        413,
      ]);
    }
    // A frame that wants a window of 128 MiB.
    const window = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3]), Buffer.from([9, 0, 0, 0x20])]);
    expect(await post(window, { headers: { "Content-Encoding": "zstd" } })).toMatchObject({ status: 400 });
    expect([largeBodies.held, smallBodies.held]).toEqual([0, 0]);
  });
});

describe("keys", () => {
  it("are found where clients can put one", async () => {
    const { secret } = tenant;
    const basic = (text: string) => `Basic ${btoa(text)}`;
    const places: Record<string, string>[] = [
      { Authorization: `bearer ${secret}` },
      { Authorization: basic(`any:${secret}`) },
      { Authorization: basic(`${secret}:`) },
      { Authorization: basic(secret) },
      { Authorization: `ApiKey ${secret}` },
      { Authorization: `ApiKey ${btoa(`id:${secret}`)}` },
      { Authorization: `Splunk ${secret}` },
      { Authorization: secret },
      { "DD-API-KEY": secret },
      { "X-Api-Key": secret },
      { "X-Amz-Firehose-Access-Key": secret },
      { "X-Sentry-Auth": `Sentry sentry_version=7, sentry_key=${secret}, sentry_client=x` },
    ];
    for (const headers of places) {
      expect([headers, (await post('{"a":1}', { headers, key: null })).status]).toEqual([headers, 200]);
    }
  });

  it("in a URL must have the scope logs:write only", async () => {
    const { secret } = await addKey(tenant, WRITE);
    for (const path of [`/ingest?key=${secret}`, `/ingest?sentry_key=${secret}`, `/ingest/k/${secret}`]) {
      expect(await post('{"a":1}', { path, key: null })).toMatchObject(accepted(1));
    }
    for (const path of [`/ingest?key=${tenant.secret}`, `/ingest/k/${tenant.secret}`]) {
      for (const body of ['{"a":1}', "", "broken", `${JSON.stringify({ a: "x".repeat(100_000) })}\n`.repeat(40)]) {
        const answer = await post(body, { path, key: null });
        expect(answer).toMatchObject({ status: 403, body: { error: { code: "INSUFFICIENT_SCOPE" } } });
        expect(JSON.stringify(answer.body)).not.toContain(tenant.secret);
      }
    }
    expect(await entries()).toHaveLength(3);
  });

  it("are refused in the shape of the door", async () => {
    const forged = `${tenant.secret.slice(0, -7)}${"x".repeat(7)}`;
    expect(await post("{}", { key: null })).toMatchObject({ status: 401, body: { error: { code: "UNAUTHORIZED" } } });
    expect(await post("{}", { key: forged })).toMatchObject({
      status: 401,
      body: { error: { code: "INVALID_API_KEY" } },
    });
    const { secret } = await addKey(tenant, ["logs:read"]);
    expect(await post("{}", { key: secret })).toMatchObject({ status: 403 });
  });
});

describe("a repeated body", () => {
  it("is stored once if its times are not all whole seconds, at the same time and later", async () => {
    for (const count of [2, 2_000]) {
      const body = Array.from({ length: count }, (_, i) => JSON.stringify({ ts: ms(), msg: `${count} ${i}` })).join(
        "\n",
      );
      const answers = await Promise.all([post(body), post(body), post(body)]);
      expect(answers.map(({ body: { duplicate } }) => duplicate).sort()).toEqual([false, true, true]);
      expect(await post(gzipSync(body), { headers: { "Content-Encoding": "gzip" } })).toMatchObject(
        accepted(count, { duplicate: true }),
      );
    }
    expect(await messagesOf(tenant)).toHaveLength(2_002);
    expect(await merged()).toEqual([{ reason: "merged", entries: 3 * 2_002, requests: 6 }]);
  });

  it("is stored again without such times, at another path, of another media type", async () => {
    const rounded = JSON.stringify({ ts: Math.floor(Date.now() / 1000), msg: "beat" });
    for (const body of [rounded, '{"msg":"beat"}'])
      for (const _ of [1, 2]) expect(await post(body)).toMatchObject(accepted(1));
    const body = JSON.stringify({ ts: ms(), msg: "m" });
    expect(await post(body)).toMatchObject(accepted(1));
    expect(await post(body, { path: "/ingest?message=msg" })).toMatchObject(accepted(1));
    expect(await post(body, { headers: { "Content-Type": "text/json" } })).toMatchObject(accepted(1));
    expect(await post(body, { headers: { "Content-Type": "application/json; charset=utf-8" } })).toMatchObject(
      accepted(1, { duplicate: true }),
    );
    const { secret } = await addKey(tenant, WRITE);
    expect(await post(body, { path: `/ingest?key=${secret}`, key: null })).toMatchObject(
      accepted(1, { duplicate: true }),
    );
    expect(await entries()).toHaveLength(7);
  });

  it("with an Idempotency-Key is as for own entries", async () => {
    const headers = { "Idempotency-Key": "one" };
    expect(await post('{"msg":"a"}', { headers })).toMatchObject(accepted(1));
    expect(await post('{"msg":"a"}', { headers })).toMatchObject(accepted(1, { duplicate: true }));
    expect(await post('{"msg":"b"}', { headers })).toMatchObject({ status: 409 });
    expect(await post('{"msg":"b"}', { headers: { "Idempotency-Key": "x".repeat(129) } })).toMatchObject({
      status: 400,
    });
    expect(await merged()).toEqual([{ reason: "rejected", entries: 0, requests: 1 }]);
  });
});

describe("limits", () => {
  const setLimit = async (limit: number) => {
    await onSql(tenant.workspaceId, (sql) => {
      const rules = [{ method: "POST", path: `/logger/${tenant.projectId}/log`, limit, windowSeconds: 3600 }];
      sql.exec("UPDATE workspace SET limit_rules = ?", JSON.stringify(rules));
    });
    await evict(tenant.workspaceId);
  };

  it("a door counts as POST /logger/:id/log of its project, and waits at most 5 s", async () => {
    await setLimit(2);
    const statuses = [];
    for (const body of ['{"a":1}', "broken", '[{"b":1},{"b":2}]']) statuses.push(await post(body));
    expect(statuses.map(({ status }) => status)).toEqual([200, 400, 429]);
    const { headers } = statuses[2] ?? expect.unreachable();
    expect([headers.get("X-RateLimit-Limit"), headers.get("Retry-After")]).toEqual(["2", "5"]);
    expect(await merged()).toEqual([
      { reason: "limited", entries: 2, requests: 1 },
      { reason: "rejected", entries: 0, requests: 1 },
    ]);
  });

  it("the bulk helper of Elasticsearch's client, which ends at a 429, gets it for each item", async () => {
    await setLimit(1);
    const body = '{"create":{"_index":"i","_id":"7"}}\n{"message":"a"}\n{"index":{"_index":"i"}}\n{"message":"b"}\n';
    const send = (meta: string) => {
      const headers = { Authorization: `ApiKey ${tenant.secret}`, "x-elastic-client-meta": meta };
      return exports.default.fetch(new Request("http://taffrail.test/es/_bulk", { method: "POST", headers, body }));
    };
    expect((await send("es=9.4.3,js=24.21.0,h=bp")).status).toBe(200);
    const refused = await send("es=9.4.3,js=24.21.0,h=bp");
    const error = { type: "es_rejected_execution_exception", reason: "Too many requests" };
    expect([refused.status, refused.headers.get("X-Elastic-Product")]).toEqual([200, "Elasticsearch"]);
    expect(await refused.json()).toEqual({
      took: 1,
      errors: true,
      items: [
        { create: { _index: "i", _id: "7", status: 429, error } },
        { index: { _index: "i", _id: null, status: 429, error } },
      ],
    });
    expect((await send("es=9.4.3,js=24.21.0")).status).toBe(429);
    // The second one is written later, with others.
    expect(await merged()).toEqual([{ reason: "limited", entries: 2, requests: 1 }]);
  });
});

it("pages of any origin may call a door, with any header", async () => {
  const { secret } = await addKey(tenant, WRITE);
  const preflight = await exports.default.fetch(
    new Request("http://taffrail.test/ingest", {
      method: "OPTIONS",
      headers: {
        Origin: "https://shop.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "dd-api-key,content-type",
      },
    }),
  );
  expect([preflight.status, preflight.headers.get("Access-Control-Allow-Origin")]).toEqual([204, "*"]);
  expect(preflight.headers.get("Access-Control-Allow-Headers")).toBe("dd-api-key,content-type");
  const answer = await post('{"a":1}', { key: secret, headers: { Origin: "https://shop.example" } });
  expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
});

describe("a request whose batches are staged", () => {
  const callBytes = STAGING.callBytes;
  afterEach(() => {
    STAGING.callBytes = callBytes;
  });
  const staged = () => onSql(tenant.workspaceId, (sql) => sql.exec("SELECT * FROM staged_batches").toArray().length);
  const line = (i: number) => JSON.stringify({ ts: Date.now() - 5_000.5, msg: `m${i}`, id: crypto.randomUUID() });

  it("is stored once, at once, in order, with old entries at the time of receipt", async () => {
    STAGING.callBytes = 50_000;
    const lines = Array.from({ length: 15_000 }, (_, i) => line(i));
    lines[1] = JSON.stringify({ ts: Date.now() - 40 * 86_400_000, msg: "m1" });
    lines[14_000] = JSON.stringify({ ts: Date.now() - 41 * 86_400_000, msg: "m14000" });
    const answers = await Promise.all([post(lines.join("\n")), post(lines.join("\n"))]);
    expect(answers.map(({ body }) => [body.accepted, body.duplicate]).sort()).toEqual([
      [15_000, false],
      [15_000, true],
    ]);
    expect(await messagesOf(tenant)).toEqual(lines.map((_, i) => `m${i}`));
    expect(await staged()).toBe(0);
    expect(await merged()).toEqual([{ reason: "merged", entries: 15_000, requests: 1 }]);
    expect([largeBodies.held, smallBodies.held]).toEqual([0, 0]);
  });

  it("leaves nothing if it is refused", async () => {
    STAGING.callBytes = 50_000;
    const lines = Array.from({ length: 21_000 }, (_, i) => line(i));
    expect(await post(lines.join("\n"))).toMatchObject({ status: 413 });
    const { secret } = await addKey(tenant, ["logs:read"]);
    expect(await post(lines.slice(0, 15_000).join("\n"), { key: secret })).toMatchObject({ status: 403 });
    expect(await post(`[${lines.slice(0, 15_000).join(",")}`)).toMatchObject({ status: 400 });
    expect([await staged(), await entries()]).toEqual([0, []]);
    expect([largeBodies.held, smallBodies.held]).toEqual([0, 0]);
  });
});

it("entries older than the retention get the time of receipt", async () => {
  const old = Date.now() - 40 * 86_400_000;
  const lines = Array.from({ length: 3_000 }, (_, i) => JSON.stringify({ ts: i % 2 ? old : Date.now(), msg: `m${i}` }));
  expect(await post(lines.slice(0, 2).join("\n"))).toMatchObject(accepted(2));
  expect(await post(lines.join("\n"))).toMatchObject(accepted(3_000));
  const stored = await entries();
  expect(stored.filter(({ timestamp }) => Date.parse(timestamp) < Date.now() - 60_000)).toEqual([]);
  expect(stored[1]?.data).toEqual({ _taffrail: { timestamp: new Date(old).toISOString() } });
});
