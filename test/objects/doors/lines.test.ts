import { exports } from "cloudflare:workers";
import { createHmac } from "node:crypto";
import { deflateSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { addKey, evict, messagesOf, newTenant, onSql, storedEntries, type Tenant } from "../ingest/support.ts";

let tenant: Tenant;
beforeEach(async () => {
  tenant = await newTenant();
});

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  key?: string | null;
}

async function post(
  path: string,
  body: BodyInit | null,
  { method = "POST", headers = {}, key = tenant.secret }: Sent = {},
) {
  const authorization = key === null ? {} : { Authorization: `Bearer ${key}` };
  const request = new Request(`http://taffrail.test${path}`, {
    method,
    headers: { ...authorization, ...headers },
    body,
  });
  const response = await exports.default.fetch(request);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

/** Passes each byte on as a chunk. */
const bytewise = (): Transformer<Uint8Array, Uint8Array> => ({
  transform: (chunk, controller) => {
    for (const byte of chunk) controller.enqueue(Uint8Array.of(byte));
  },
});
const basic = (user: string, password: string) => ({ Authorization: `Basic ${btoa(`${user}:${password}`)}` });
const writeOnly = async () => (await addKey(tenant, ["logs:write"])).secret;
const entries = async () => (await storedEntries(tenant.workspaceId)).map(({ entry }) => entry);
/** A time of now with microseconds. */
const micros = (n = 0) =>
  new Date()
    .toISOString()
    .replace("Z", `${String(n).padStart(3, "0")}Z`)
    .replace(/\.\d{3}/, ".123");

describe("POST /ingest/syslog", () => {
  it("stores Heroku's frames with the key as Basic password, and a frame sent again once", async () => {
    const line = `<190>1 ${new Date().toISOString().slice(0, 19)}+00:00 host app web.1 - {"level":"error","msg":"failed"}\n`;
    const headers = {
      ...basic("drain", tenant.secret),
      "Content-Type": "application/logplex-1",
      "Logplex-Msg-Count": "1",
      "Logplex-Frame-Id": "09C557EAFCFB6CF2740EE62F62971098",
    };
    const body = `${line.length} ${line}`;
    expect(await post("/ingest/syslog", body, { headers, key: null })).toMatchObject({ status: 200, text: "{}" });
    expect(await post("/ingest/syslog", body, { headers, key: null })).toMatchObject({ status: 200 });
    expect(await entries()).toMatchObject([{ message: "failed", level: "error", service: "app", host: "host" }]);
  });

  it("stores a repeated batch once if its times have fractions, and twice if they have none", async () => {
    const fine = `<13>1 ${micros()} h app - - - fine`;
    const coarse = `<13>${new Date().toUTCString().replace(/^\w+, (\d+) (\w+) \d+ ([\d:]+) GMT/, "$2 $1 $3")} h app: coarse`;
    for (const body of [fine, fine, coarse, coarse]) expect((await post("/ingest/syslog", body)).status).toBe(200);
    expect(await messagesOf(tenant)).toEqual(["fine", "coarse", "coarse"]);
  });

  it("stores messages of syslog-ng once, which repeats a batch with more messages behind it", async () => {
    const line = (n: number) => `<13>1 2026-11-23T08:00:00.${String(100_001 + n)}Z h app - - - m${n}`;
    const batch = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => line(from + i)).join("\n");
    const headers = { "User-Agent": "syslog-ng 3.38.1/libcurl 7.88.1" };
    const bodies = [batch(0, 3), batch(0, 3), batch(0, 7), batch(0, 7), batch(7, 9)];
    for (const body of bodies) expect((await post("/ingest/syslog", body, { headers })).status).toBe(200);
    expect((await messagesOf(tenant)).sort()).toEqual(["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8"]);
  });

  it("stores other messages of syslog-ng that begin with an equal one, and messages without a fine time each time", async () => {
    const at = (text: string, time = "08:00:00.123456") => `<13>1 2026-11-23T${time}Z h app - - - ${text}`;
    const headers = { "User-Agent": "syslog-ng 3.38.1" };
    const sent = [
      [at("a"), at("b")],
      [at("a"), at("c")],
      [at("a"), at("c")],
      [at("d", "08:00:00")],
      [at("d", "08:00:00")],
    ];
    for (const lines of sent) expect((await post("/ingest/syslog", lines.join("\n"), { headers })).status).toBe(200);
    expect(await messagesOf(tenant)).toEqual(["a", "b", "a", "c", "d", "d"]);
    expect((await post("/ingest/syslog?zone=x", at("e"), { headers })).status).toBe(400);
    expect((await post("/ingest/syslog", at("e"), { headers, key: "sk_no" })).status).toBe(401);
  });

  it("stores messages of syslog-ng once that are sent again while they are being stored, or in a smaller batch", async () => {
    const line = (n: number) => `<13>1 2026-11-23T08:00:00.${String(100_001 + n)}Z h app - - - m${n}`;
    const batch = (to: number) => Array.from({ length: to }, (_, n) => line(n)).join("\n");
    const headers = { "User-Agent": "syslog-ng 4.8.0" };
    const send = async (to: number) => (await post("/ingest/syslog", batch(to), { headers })).status;
    for (const status of await Promise.all([100, 101, 100].map(send))) expect([200, 503]).toContain(status);
    for (const to of [101, 50, 101, 1]) expect(await send(to)).toBe(200);
    expect((await messagesOf(tenant)).length).toBe(101);
    const whole = 6_000;
    expect(await Promise.all([whole, whole].map(send))).toEqual([200, 200]);
    expect(await send(whole + 3)).toBe(200);
    expect((await messagesOf(tenant)).length).toBe(whole + 3);
  });

  it("stores messages of syslog-ng with whole seconds once if the key's setting is `always`, and each time if it is `never`", async () => {
    const set = (dedupe: string) =>
      onSql(tenant.workspaceId, (sql) =>
        sql.exec(
          "UPDATE keys SET settings = ?, settings_version = settings_version + 1 WHERE id = ?",
          JSON.stringify({ mapping: {}, dedupe }),
          tenant.keyId,
        ),
      );
    const headers = { "User-Agent": "syslog-ng 4.8.0" };
    const send = async (text: string) => (await post("/ingest/syslog", text, { headers })).status;
    await set("always");
    for (const _ of [1, 2]) expect(await send("<13>Nov 23 08:00:00 h app: coarse")).toBe(200);
    expect(await messagesOf(tenant)).toEqual(["coarse"]);
    await evict(tenant.workspaceId);
    await set("never");
    await evict(tenant.workspaceId);
    for (const _ of [1, 2]) expect(await send("<13>1 2026-11-23T08:00:00.123456Z h app - - - fine")).toBe(200);
    expect(await messagesOf(tenant)).toEqual(["coarse", "fine", "fine"]);
  });

  it("refuses an unknown zone with 400 as text", async () => {
    const answer = await post("/ingest/syslog?zone=Mars/Olympus", "<13>Nov 23 10:00:00 h a: m");
    expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("zone must be") });
    expect((await post("/ingest/syslog?zone=%2B01:00", "<13>Nov 23 10:00:00 h a: m")).status).toBe(200);
  });
});

describe("POST /gelf", () => {
  const message = () =>
    JSON.stringify({
      version: "1.1",
      host: "web-1",
      short_message: "Failed",
      level: 3,
      _n: 7,
      timestamp: Date.now() / 1000,
    });

  it.each([
    ["/gelf", {}],
    ["in the path", { path: true }],
    ["in the query", { query: true }],
  ])("answers 202 without a body, with the key %s", async (_, { path, query }: { path?: boolean; query?: boolean }) => {
    const key = await writeOnly();
    const url = path ? `/gelf/k/${key}` : query ? `/gelf?key=${key}` : "/gelf";
    expect(await post(url, message(), { key: path || query ? null : key })).toMatchObject({ status: 202, text: "" });
    expect(await entries()).toMatchObject([{ message: "Failed", level: "error", host: "web-1", data: { n: 7 } }]);
  });

  it("refuses a key in the URL that may do more than write", async () => {
    expect((await post(`/gelf/k/${tenant.secret}`, message(), { key: null })).status).toBe(403);
    expect(await entries()).toEqual([]);
  });

  it("reads the body of graypy, which names two encodings and sends one", async () => {
    const headers = { "Content-Encoding": "gzip,deflate" };
    expect(await post("/gelf", new Uint8Array(deflateSync(message())), { headers })).toMatchObject({ status: 202 });
    expect(await messagesOf(tenant)).toEqual(["Failed"]);
  });

  it("refuses a body that is not JSON with 400", async () => {
    expect(await post("/gelf", '{"short_message"')).toMatchObject({ status: 400 });
  });
});

describe("Sentry", () => {
  const log = () =>
    JSON.stringify({
      items: [
        {
          timestamp: Math.floor(Date.now() / 1000) + 0.5,
          level: "warn",
          body: "Cart",
          attributes: { n: { value: 1 } },
        },
      ],
    });
  const envelope = () => `{"sdk":{}}\n{"type":"log","item_count":1}\n${log()}\n{"type":"session"}\n{}\n`;

  it.each([
    ["the query", (key: string) => ({ path: `/api/7/envelope/?sentry_version=7&sentry_key=${key}`, headers: {} })],
    [
      "X-Sentry-Auth",
      (key: string) => ({
        path: "/api/7/envelope/",
        headers: { "X-Sentry-Auth": `Sentry sentry_version=7, sentry_key=${key}` },
      }),
    ],
  ])("stores the logs of an envelope with the key in %s", async (_, place) => {
    const { path, headers } = place(await writeOnly());
    const answer = await post(path, envelope(), { key: null, headers: { ...headers, Origin: "https://shop.example" } });
    expect(answer).toMatchObject({ status: 200, text: "{}" });
    expect(answer.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(await entries()).toMatchObject([{ message: "Cart", level: "warn", data: { n: 1 } }]);
  });

  describe("through a tunnel, with the key in the envelope's header", () => {
    const path = "/api/7/envelope/";
    const tunnelled = (key: string, padding = 0) =>
      envelope().replace("{", `{"dsn":"https://${key}@logs.example.com/7","pad":"${"x".repeat(padding)}",`);

    it.each([
      ["as it is", (text: string) => text, {}],
      ["compressed", (text: string) => gzipSync(text), { "Content-Encoding": "gzip" }],
      // Its header is far longer than the bytes that are inflated to find the key.
      ["compressed well", (text: string) => gzipSync(text + "\n".repeat(1_000_000)), { "Content-Encoding": "gzip" }],
      [
        "in chunks",
        (text: string) => new Blob([text]).stream().pipeThrough(new TransformStream(bytewise())),
        { "Content-Type": "text/plain;charset=UTF-8" },
      ],
    ])("stores logs that are sent %s", async (_, bodyOf, headers) => {
      const body = bodyOf(tunnelled(await writeOnly(), 300));
      expect(await post(path, body, { key: null, headers })).toMatchObject({ status: 200 });
      expect(await messagesOf(tenant)).toEqual(["Cart"]);
    });

    it("refuses a key with another scope, a header without a key, and one that is too long", async () => {
      const own = await post(path, tunnelled(tenant.secret), { key: null });
      expect(own).toMatchObject({ status: 403, text: expect.stringMatching(/^{"detail":/) });
      expect((await post(path, envelope(), { key: null })).status).toBe(401);
      expect((await post(path, null, { key: null })).status).toBe(401);
      expect(
        (await post(path, "\u0000".repeat(100), { key: null, headers: { "Content-Encoding": "gzip" } })).status,
      ).toBe(401);
      const long = `{"pad":"${"x".repeat(9_000)}",${tunnelled(await writeOnly()).slice(1)}`;
      expect((await post(path, long, { key: null })).status).toBe(401);
      expect(await messagesOf(tenant)).toEqual([]);
    });
  });

  it("counts in the ledger what a client report says was dropped, with and without logs", async () => {
    const discarded_events = [{ reason: "queue_overflow", category: "log_item", quantity: 3 }];
    const report = `{"type":"client_report"}\n${JSON.stringify({ discarded_events })}\n`;
    expect((await post("/api/7/envelope/", `{}\n${report}`)).status).toBe(200);
    const body = envelope() + report;
    expect((await post("/api/7/envelope/", body)).status).toBe(200);
    expect((await post("/api/7/envelope/", body)).status).toBe(200);
    const ledger = await onSql(tenant.workspaceId, (sql) =>
      sql.exec("SELECT reason, entries, requests FROM ledger ORDER BY reason").toArray(),
    );
    expect(ledger).toEqual([
      { reason: "merged", entries: 1, requests: 1 },
      { reason: "queue-full", entries: 6, requests: 2 },
    ]);
  });

  it("answers an envelope without logs with 200", async () => {
    expect(await post("/api/7/envelope/", '{}\n{"type":"transaction"}\n{}')).toMatchObject({ status: 200, text: "{}" });
  });

  it("stores an event of the former route, and refuses in Sentry's shape", async () => {
    expect((await post("/api/7/store/", '{"event_id":"9e","message":"m","level":"info"}')).status).toBe(200);
    expect(await messagesOf(tenant)).toEqual(["m"]);
    expect(await post("/api/7/envelope/", "hello")).toMatchObject({
      status: 400,
      text: expect.stringMatching(/^{"detail":/),
    });
  });
});

describe("POST /ingest/firehose", () => {
  const id = "ed4acda5-034f-9f42-bba1-f29aea6d7d8f";
  const request = (...records: (string | Uint8Array)[]) =>
    JSON.stringify({
      requestId: id,
      timestamp: Date.now(),
      records: records.map((record) => ({ data: Buffer.from(record).toString("base64") })),
    });
  const headers = () => ({
    "X-Amz-Firehose-Access-Key": tenant.secret,
    "X-Amz-Firehose-Request-Id": id,
    "Content-Type": "application/json",
  });

  it("answers 200 with the id of the request, and stores a request sent again once", async () => {
    const cloudWatch = JSON.stringify({
      messageType: "DATA_MESSAGE",
      logGroup: "/aws/lambda/checkout",
      logEvents: [{ id: "1", timestamp: Date.now(), message: "b" }],
    });
    const body = request('{"msg":"a"}\n', gzipSync(cloudWatch));
    // Firehose sends the id in a header, too.
    const { "X-Amz-Firehose-Request-Id": _, ...withoutId } = headers();
    for (const own of [headers(), withoutId]) {
      const { status, text, headers: sent } = await post("/ingest/firehose", body, { key: null, headers: own });
      expect([status, sent.get("Content-Type")]).toEqual([200, "application/json"]);
      expect(JSON.parse(text)).toEqual({ requestId: id, timestamp: expect.any(Number) });
    }
    expect(await entries()).toMatchObject([{ message: "a" }, { message: "b", service: "checkout" }]);
  });

  it("finding 14: another body under the same id is stored, each body once", async () => {
    const send = async (body: string) =>
      expect((await post("/ingest/firehose", body, { key: null, headers: headers() })).status).toBe(200);
    const first = request("a\n", "b\n");
    await send(first);
    await send(request("c\n"));
    // Another attempt, made later.
    await send(first.replace(/"timestamp":\d+/, '"timestamp":1'));
    await send(request("c\n"));
    await send(request("a\n", "b\n", "d\n"));
    expect(await messagesOf(tenant)).toEqual(["a", "b", "c", "a", "b", "d"]);
  });

  it("refuses a record of millions of lines with 413, without reading them all", async () => {
    const body = request(gzipSync("a\n".repeat(5_000_000)));
    expect(body.length).toBeLessThan(20_000);
    expect((await post("/ingest/firehose", body, { key: null, headers: headers() })).status).toBe(413);
    expect(await entries()).toEqual([]);
  });

  it("refuses with the id and errorMessage", async () => {
    const { status, text } = await post("/ingest/firehose", "no", { key: null, headers: headers() });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({
      requestId: id,
      timestamp: expect.any(Number),
      errorMessage: expect.any(String),
    });
    const refused = await post("/ingest/firehose", "no", {
      key: null,
      headers: { ...headers(), "X-Amz-Firehose-Access-Key": "sk_no" },
    });
    expect(refused.status).toBe(401);
    expect(JSON.parse(refused.text)).toMatchObject({ requestId: id, errorMessage: expect.any(String) });
  });
});

describe("Vercel drains", () => {
  const drain = () =>
    JSON.stringify([{ id: "1", level: "warning", message: "slow", timestamp: Date.now(), host: "x.vercel.app" }]);

  it("answers the handshake", async () => {
    const answer = await post("/ingest/vercel?verify=abc123", null, { method: "GET", key: null });
    expect([answer.status, answer.headers.get("x-vercel-verify")]).toEqual([200, "abc123"]);
    expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    const refused = await post("/ingest/vercel?verify=abc123", "[]", { key: null });
    expect([refused.status, refused.headers.get("x-vercel-verify")]).toEqual([401, "abc123"]);
    expect((await post("/ingest/vercel?verify=a%0d%0ab", null, { method: "GET" })).headers.has("x-vercel-verify")).toBe(
      false,
    );
  });

  it("stores a drain, and a repeated one once", async () => {
    const body = drain();
    for (const _ of [1, 2]) expect((await post("/ingest/vercel", body)).status).toBe(200);
    expect(await entries()).toMatchObject([{ message: "slow", level: "warn", host: "x.vercel.app" }]);
  });

  it("refuses a body without the signature of the key's secret, before anything is stored", async () => {
    await onSql(tenant.workspaceId, (sql) => {
      const settings = JSON.stringify({ mapping: {}, dedupe: "auto", vercelSecret: "s3cret" });
      sql.exec("UPDATE keys SET settings = ?, settings_version = 1 WHERE id = ?", settings, tenant.keyId);
    });
    const body = drain();
    const signed = (secret: string) => ({
      "x-vercel-signature": createHmac("sha1", secret).update(body).digest("hex"),
    });
    for (const headers of [{}, signed("other"), { "x-vercel-signature": "zz" }]) {
      expect((await post("/ingest/vercel", body, { headers })).status).toBe(403);
    }
    expect(await entries()).toEqual([]);
    // Too many entries are not read to their end, which the signature is about.
    const many = `[${"{},".repeat(60_000)}{}]`;
    const signature = createHmac("sha1", "s3cret").update(many).digest("hex");
    expect((await post("/ingest/vercel", many, { headers: { "x-vercel-signature": signature } })).status).toBe(413);
    expect((await post("/ingest/vercel", body, { headers: signed("s3cret") })).status).toBe(200);
    expect(await messagesOf(tenant)).toEqual(["slow"]);
  });
});

describe("POST /journal/upload", () => {
  /** Entries of a journal from a number on, as `systemd-journal-upload` sends them. */
  const journal = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => {
      const time = Date.now() * 1000 - 1_000_000 + from + i;
      return `__CURSOR=s=1;i=${from + i}\n__REALTIME_TIMESTAMP=${time}\n_HOSTNAME=web-1\nPRIORITY=4\nMESSAGE=m${from + i}\n\n`;
    }).join("");
  const upload = (body: string, path = "/journal/upload") =>
    post(path, body, {
      key: null,
      headers: { ...basic("journal", tenant.secret), "Content-Type": "application/vnd.fdo.journal" },
    });
  const messages = (count: number) => Array.from({ length: count }, (_, i) => `m${i}`);

  it.each(["/journal/upload", "/upload"])("stores an upload to %s", async (path) => {
    expect(await upload(journal(0, 3), path)).toMatchObject({ status: 200, text: "OK.\n" });
    expect(await entries()).toMatchObject([{ message: "m0", level: "warn", host: "web-1" }, {}, {}]);
    expect(await upload("", path)).toMatchObject({ status: 200 });
  });

  it("stores an upload of any length in parts, and of one that is repeated with more entries only these", async () => {
    expect((await upload(journal(0, 23_000))).status).toBe(200);
    expect((await upload(journal(0, 23_010))).status).toBe(200);
    expect((await upload(journal(0, 23_020))).status).toBe(200);
    expect((await upload(journal(23_010, 23_020))).status).toBe(200);
    expect(await messagesOf(tenant)).toEqual(messages(23_020));
  });

  it("stores an entry once that ends an upload and begins the next one, as systemd-journal-upload sends it after a start", async () => {
    for (const [from, to] of [
      [0, 40],
      [39, 80],
      [79, 80],
      [79, 120],
      [79, 130],
      [129, 131],
    ] as const) {
      expect((await upload(journal(from, to))).status).toBe(200);
    }
    expect(await messagesOf(tenant)).toEqual(messages(131));
  });

  it("stores uploads that begin with the same entry at the same time once", async () => {
    const answers = await Promise.all([upload(journal(0, 500)), upload(journal(0, 600)), upload(journal(0, 700))]);
    const statuses = answers.map(({ status }) => status);
    for (const status of statuses) expect([200, 503]).toContain(status);
    expect((await upload(journal(0, 700))).status).toBe(200);
    expect(await messagesOf(tenant)).toEqual(messages(700));
  });

  it("stores an upload once that arrives twice at the same time in chunks of other sizes, and one that is shorter", async () => {
    const bytes = new TextEncoder().encode(journal(0, 12_000));
    const inChunks = async (size: number) => {
      const { readable, writable } = new IdentityTransformStream();
      const writing = (async () => {
        const writer = writable.getWriter();
        for (let at = 0; at < bytes.length; at += size) await writer.write(bytes.slice(at, at + size));
        await writer.close();
      })().catch(() => {});
      const headers = { ...basic("journal", tenant.secret), "Content-Type": "application/vnd.fdo.journal" };
      const { status } = await post("/journal/upload", readable, { key: null, headers });
      await writing;
      return status;
    };
    for (const status of await Promise.all([50_000, 33_333].map(inChunks))) expect([200, 503]).toContain(status);
    expect((await upload(journal(0, 12_000))).status).toBe(200);
    expect((await upload(journal(0, 700))).status).toBe(200);
    expect((await messagesOf(tenant)).length).toBe(12_000);
  });

  it("refuses a wrong key and a body that is no journal, and keeps the parts before it", async () => {
    expect((await upload("no journal")).status).toBe(400);
    const wrong = await post("/journal/upload", journal(0, 1), { key: null, headers: basic("journal", "sk_no") });
    expect(wrong).toMatchObject({ status: 401, text: expect.stringMatching(/\n$/) });
    expect((await upload(`${journal(0, 9_000)}no journal`)).status).toBe(400);
    expect((await upload(journal(0, 9_000))).status).toBe(200);
    expect(await messagesOf(tenant)).toEqual(messages(9_000));
  });
});
