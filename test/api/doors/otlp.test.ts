import { deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { jsonOf, type OtlpResource, protobufOf } from "../../../bench/otlp-bodies.ts";
import { type Answer, call, createTenant, type FoundLogs, type Tenant } from "../../support/api.ts";
import { sharedServerUrl } from "../../support/shared-server-url.ts";

const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/x-protobuf";
const TYPES = [JSON_TYPE, PROTOBUF_TYPE] as const;

let url: string;
let tenant: Tenant;

beforeAll(async () => {
  url = await sharedServerUrl();
  tenant = await createTenant(url);
});

interface Sent {
  status: number;
  headers: Headers;
  body: Buffer;
}

async function send(
  path: string,
  type: string | null,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Sent> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: {
      Authorization: `Bearer ${tenant.key.secret}`,
      ...(type === null ? {} : { "Content-Type": type }),
      ...headers,
    },
    body: Buffer.from(body),
  });
  return { status: response.status, headers: response.headers, body: Buffer.from(await response.arrayBuffer()) };
}

function requestOf(messages: readonly string[], time = BigInt(Date.now()) * 1_000_000n + 1n): OtlpResource[] {
  return [
    {
      attributes: [
        ["service.name", "checkout"],
        ["host.name", "node-7"],
      ],
      scopes: [
        {
          name: "app",
          records: messages.map((body, at) => ({
            time: time + BigInt(at),
            severityNumber: 13,
            body,
            attributes: [["n", at]],
          })),
        },
      ],
    },
  ];
}

function encoded(type: string, resources: readonly OtlpResource[]): Buffer {
  return type === JSON_TYPE ? Buffer.from(jsonOf(resources)) : protobufOf(resources);
}

async function stored(text: string): Promise<(FoundLogs["logs"][number] & Record<string, unknown>)[]> {
  const body = { filters: { search: text }, pagination: { limit: 1000 } };
  const answer: Answer<FoundLogs> = await call(url, "/logger/query", { token: tenant.key.secret, body });
  expect(answer.status).toBe(200);
  return answer.body.data.logs.map((log) => ({ ...log }));
}

describe.each(TYPES)("OTLP as %s", (type) => {
  const empty = type === JSON_TYPE ? "{}" : "";

  test("records are stored; the answer has the type of the request; a repeated body is stored once", async () => {
    const name = `stored-${type.length}`;
    const body = encoded(type, requestOf([`${name} one`, `${name} two`]));
    for (const path of ["/v1/logs", "/otlp/v1/logs", "/v1/logs"]) {
      const sent = await send(path, type, body);
      expect([sent.status, sent.headers.get("Content-Type"), sent.body.toString()]).toEqual([200, type, empty]);
    }
    const logs = await stored(name);
    // The path is a part of what makes a request the same.
    expect(logs.map(({ message }) => message).sort()).toEqual([
      `${name} one`,
      `${name} one`,
      `${name} two`,
      `${name} two`,
    ]);
    expect(logs[0]).toMatchObject({
      level: "warn",
      service: "checkout",
      host: "node-7",
      data: { resource: { "service.name": "checkout" }, scope: { name: "app" } },
    });
  });

  test("gzip, deflate and zstd are inflated", async () => {
    const encodings = { gzip: gzipSync, deflate: deflateSync, zstd: zstdCompressSync };
    const name = `inflated-${type.length}`;
    for (const [encoding, compress] of Object.entries(encodings)) {
      const body = compress(encoded(type, requestOf([`${name} ${encoding}`])));
      expect((await send("/v1/logs", type, body, { "Content-Encoding": encoding })).status).toBe(200);
    }
    expect(await stored(name)).toHaveLength(3);
  });

  test("a large body is read while it arrives", async () => {
    const name = `large-${type.length}`;
    const messages = Array.from({ length: 2_500 }, (_, at) => `${name} ${at} ${"x".repeat(60)}`);
    expect((await send("/v1/logs", type, encoded(type, requestOf(messages)))).status).toBe(200);
    expect(await stored(`${name} 2499`)).toHaveLength(1);
  });

  test("an empty request is a success, also as a check of the credential", async () => {
    for (const body of ["", encoded(type, [])]) {
      const sent = await send("/v1/logs", type, body);
      expect([sent.status, sent.body.toString()]).toEqual([200, empty]);
    }
    // The check of a destination by Cloudflare names the encoding of its exports.
    for (const body of ["", gzipSync(encoded(type, []))]) {
      expect((await send("/v1/logs", type, body, { "Content-Encoding": "gzip" })).status).toBe(200);
    }
  });

  test("refusals are a google.rpc.Status of the request's type, traces and metrics are refused for good", async () => {
    const messageOf = ({ body }: Sent) => (type === JSON_TYPE ? JSON.parse(body.toString()).message : body.toString());
    const broken = await send("/v1/logs", type, '{"resourceLogs":');
    expect([broken.status, broken.headers.get("Content-Type")]).toEqual([400, type]);
    expect(messageOf(broken)).toMatch(/JSON|protobuf/i);
    const unknown = await send("/v1/logs", type, "", {
      Authorization: `Bearer ${tenant.key.secret.slice(0, -1)}${tenant.key.secret.endsWith("0") ? "1" : "0"}`,
    });
    expect([unknown.status, unknown.headers.get("Content-Type")]).toEqual([401, type]);
    for (const path of ["/v1/traces", "/v1/metrics", "/otlp/v1/traces"]) {
      const sent = await send(path, type, "");
      expect([path, sent.status, sent.headers.get("Retry-After")]).toEqual([path, 404, null]);
      expect(messageOf(sent)).toMatch(/logs only/);
    }
  });
});

test("null records are counted in a partial success", async () => {
  const body = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[null,{"body":{"stringValue":"partial one"}},null]}]}]}';
  const sent = await send("/v1/logs", JSON_TYPE, body);
  expect([sent.status, JSON.parse(sent.body.toString())]).toEqual([
    200,
    {
      partialSuccess: {
        rejectedLogRecords: "2",
        errorMessage: "record 0: The log record is null. record 2: The log record is null.",
      },
    },
  ]);
  expect(await stored("partial one")).toHaveLength(1);
});

test("a request without a media type is read by its first byte, one with another type is refused", async () => {
  for (const type of TYPES) {
    const sent = await send("/v1/logs", null, encoded(type, requestOf([`untyped ${type.length}`])));
    expect([sent.status, sent.headers.get("Content-Type")]).toEqual([200, type]);
  }
  expect(await stored("untyped")).toHaveLength(2);
  expect((await send("/v1/logs", "text/html", "x")).status).toBe(415);
});

test("a page of any origin may send", async () => {
  const headers = { Origin: "https://app.example", "Access-Control-Request-Method": "POST" };
  const preflight = await fetch(`${url}/v1/logs`, { method: "OPTIONS", headers });
  expect(preflight.ok).toBe(true);
  expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe("*");
});
