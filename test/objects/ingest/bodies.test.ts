import { beforeAll, describe, expect, it } from "vitest";
import { gzip, messagesOf, newTenant, numbered, receiptOf, send, storedEntries, type Tenant } from "./support.ts";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await newTenant();
});

const NDJSON = "application/x-ndjson";
const lines = (entries: readonly object[]) => entries.map((entry) => JSON.stringify(entry)).join("\n");

describe("a body", () => {
  it("of any form is stored whole, in order, and its receipt names the seq range", async () => {
    const own = await newTenant();
    const sent: [string | Uint8Array<ArrayBuffer>, number, Record<string, string>, string?][] = [
      [JSON.stringify({ message: "m0" }), 1, {}],
      [JSON.stringify(numbered(3, 1)), 3, {}],
      [JSON.stringify({ logs: numbered(2, 4) }), 2, {}],
      [lines(numbered(2, 6)), 2, {}, NDJSON],
      [`\r\n${lines(numbered(2, 8)).replace("\n", "\r\n \r\n")}\r\n`, 2, {}, `${NDJSON}; charset=utf-8`],
      [await gzip(JSON.stringify(numbered(4, 10))), 4, { "Content-Encoding": "gzip" }],
      [await gzip(lines(numbered(2, 14))), 2, { "Content-Encoding": " GZIP " }, NDJSON],
      [`\uFEFF${JSON.stringify({ message: "m16" })}\n`, 1, {}, "Application/JSON;charset=UTF-8"],
    ];
    let next = 1;
    for (const [body, count, headers, type = "application/json"] of sent) {
      expect(receiptOf(await send(own, body, { type, headers }))).toEqual({
        accepted: count,
        rejected: [],
        rejectedCount: 0,
        firstSeq: next,
        lastSeq: next + count - 1,
        duplicate: false,
      });
      next += count;
    }
    expect(await messagesOf(own)).toEqual(Array.from({ length: 17 }, (_, i) => `m${i}`));
  });

  it("with message and logs is one entry, and keeps both", async () => {
    const own = await newTenant();
    expect(receiptOf(await send(own, { message: "m", logs: [1] })).accepted).toBe(1);
    const [row] = await storedEntries(own.workspaceId);
    expect(row?.entry).toMatchObject({ message: "m", data: { logs: [1] } });
  });

  it.each([
    ["", "empty"],
    ["  \n", "empty"],
    ["{", "not valid JSON"],
    ['{"message":"m"}{"message":"m"}', "not valid JSON"],
    ["[1,]", "not valid JSON"],
    ["NaN", "not valid JSON"],
    ['"message"', "must be an entry"],
    ["null", "must be an entry"],
    ["1e999", "must be an entry"],
    ["[]", "has no entry"],
    ['{"logs":[]}', "has no entry"],
    ['{"logs":{}}', "array"],
    ['{"logs":[{"message":"m"}],"extra":1}', "extra"],
    ['{"logs":[{"message":"m"}],"__proto__":1}', "__proto__"],
  ])("%j is 400 and stores nothing", async (body, words) => {
    const answer = await send(tenant, body);
    expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.text).toContain(words);
    // The request counts like any other.
    expect(answer.headers.get("X-RateLimit-Limit")).toBe("1000");
    expect(await storedEntries(tenant.workspaceId)).toEqual([]);
  });

  it("of unclosed brackets is 400", async () => {
    for (const body of [
      "[".repeat(2_000_000),
      '{"a":'.repeat(500_000),
      `${"[".repeat(2_000_000)}${"]".repeat(2_000_000)}`,
    ]) {
      expect((await send(tenant, body)).code).toBe("VALIDATION_ERROR");
    }
  });

  it("of bytes that are not UTF-8 is 400", async () => {
    for (const type of ["application/json", NDJSON]) {
      const answer = await send(tenant, new Uint8Array([0x22, 0xff, 0xfe, 0x22]), { type });
      expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
    }
  });

  it.each([
    "text/plain",
    "",
    "application/jsonx",
    "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded",
  ])("as %j is 415", async (type) => {
    const answer = await send(tenant, JSON.stringify({ message: "m" }), { type });
    expect([answer.status, answer.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
  });

  it("in another encoding than gzip is 415", async () => {
    for (const encoding of ["br", "deflate", "gzip, gzip", "zstd", "x"]) {
      const answer = await send(tenant, { message: "m" }, { headers: { "Content-Encoding": encoding } });
      expect([answer.status, answer.code]).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    }
    expect(
      receiptOf(await send(await newTenant(), { message: "m" }, { headers: { "Content-Encoding": "identity" } }))
        .accepted,
    ).toBe(1);
  });

  it("of several gzip members is one body", async () => {
    const [first, second] = [await gzip(`${lines(numbered(2, 90))}\n`), await gzip(lines(numbered(2, 92)))];
    const body = new Uint8Array([...first, ...second]);
    const answer = await send(await newTenant(), body, { type: NDJSON, headers: { "Content-Encoding": "gzip" } });
    expect(receiptOf(answer)).toMatchObject({ accepted: 4, rejectedCount: 0 });
  });

  it("of invalid, truncated or trailing gzip data is 400", async () => {
    const whole = await gzip(JSON.stringify({ message: "m".repeat(1000) }));
    const headers = { "Content-Encoding": "gzip" };
    const wrong = whole.slice();
    wrong[whole.length - 5] = (wrong[whole.length - 5] ?? 0) ^ 1;
    const bodies = [
      new TextEncoder().encode('{"message":"m"}'),
      whole.subarray(0, whole.length - 1),
      whole.subarray(0, 20),
      whole.subarray(0, 5),
      new Uint8Array(0),
      wrong,
      new Uint8Array([...whole, 1, 2, 3]),
    ];
    for (const [i, body] of bodies.entries()) {
      const answer = await send(tenant, body.slice(), { headers });
      expect([i, answer.status, answer.code]).toEqual([i, 400, "VALIDATION_ERROR"]);
    }
    expect(await storedEntries(tenant.workspaceId)).toEqual([]);
  });
});

describe("an invalid entry", () => {
  it("does not affect valid ones, and is listed with its index, code and reason", async () => {
    const own = await newTenant();
    const body = [
      { message: "good 1" },
      { message: "" },
      7,
      { message: "m", level: "loud" },
      { message: "m", category: "http", type: "hit" },
      { message: "m", timestamp: "2026-02-30T00:00:00Z" },
      { message: "good 2", level: "fatal", category: "http" },
      { message: "m", timestamp: 1 },
      { message: "m", timestamp: "2999-01-01" },
      { message: "m", data: [] },
      { message: "m", a: 1, data: { a: 2 } },
      { message: "m", session: 1 },
      { message: "x".repeat(300_000) },
      { message: "good 3" },
    ];
    const receipt = receiptOf(await send(own, body));
    expect(receipt).toMatchObject({ accepted: 3, rejectedCount: 11, firstSeq: 1, lastSeq: 3 });
    expect(receipt.rejected.map(({ index, code }) => [index, code])).toEqual([
      [1, "INVALID_MESSAGE"],
      [2, "INVALID_ENTRY"],
      [3, "INVALID_LEVEL"],
      [4, "INVALID_TYPE"],
      [5, "INVALID_TIMESTAMP"],
      [7, "TIMESTAMP_TOO_OLD"],
      [8, "TIMESTAMP_IN_FUTURE"],
      [9, "INVALID_DATA"],
      [10, "MEMBER_CONFLICT"],
      [11, "INVALID_ENTRY"],
      [12, "ENTRY_TOO_LARGE"],
    ]);
    expect(receipt.rejected[2]?.message).toContain("level");
    expect(receipt.rejected[3]?.message).toContain("request, response, redirect");
    expect(await messagesOf(own)).toEqual(["good 1", "good 2", "good 3"]);
  });

  it("as a line that is not JSON does not affect other lines", async () => {
    const own = await newTenant();
    const receipt = receiptOf(
      await send(own, '{"message":"a"}\n{"mess\n\n[]\nnull\n{"message":"b"}', { type: NDJSON }),
    );
    expect(receipt).toMatchObject({ accepted: 2, rejectedCount: 3 });
    expect(receipt.rejected.map(({ index, code }) => [index, code])).toEqual([
      [1, "INVALID_ENTRY"],
      [2, "INVALID_ENTRY"],
      [3, "INVALID_ENTRY"],
    ]);
    expect(await messagesOf(own)).toEqual(["a", "b"]);
  });

  it("alone is a 400 with the same list", async () => {
    const answer = await send(tenant, [{ message: "" }, { message: "m", level: 1 }]);
    expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
    expect(answer.details).toMatchObject([
      { index: 0, code: "INVALID_MESSAGE" },
      { index: 1, code: "INVALID_LEVEL" },
    ]);
  });

  it("is listed up to a hundred times, and counted always", async () => {
    const own = await newTenant();
    const receipt = receiptOf(await send(own, [...Array(250).fill(0), { message: "good" }]));
    expect(receipt).toMatchObject({ accepted: 1, rejectedCount: 250 });
    expect(receipt.rejected.map(({ index }) => index)).toEqual(Array.from({ length: 100 }, (_, i) => i));
  });
});

describe("the limits of a body", () => {
  it("are 1,000 entries, in every form of JSON", async () => {
    const own = await newTenant();
    const all = numbered(1001);
    const forms = (entries: readonly object[]) =>
      [
        [JSON.stringify(entries), "application/json"],
        [JSON.stringify({ logs: entries }), "application/json"],
      ] as const;
    for (const [body, type] of forms(all)) {
      const answer = await send(own, body, { type });
      expect([answer.status, answer.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    }
    for (const [body, type] of forms(all.slice(0, 1000))) {
      expect(receiptOf(await send(own, body, { type })).accepted).toBe(1000);
    }
    expect(await messagesOf(own)).toHaveLength(2000);
  });

  const LIMIT = 5 * 1024 * 1024;
  /** Entries of 200,000 bytes and white space: a valid body of exactly `size` bytes. */
  const bodyOf = (size: number) => {
    const entries = Array.from({ length: 20 }, (_, i) => JSON.stringify({ message: `${i} ${"x".repeat(200_000)}` }));
    const text = `[${entries.join(",")}]`;
    return text + " ".repeat(size - text.length);
  };
  const chunked = (text: string, chunk = 65_536) => {
    const bytes = new TextEncoder().encode(text);
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at + chunk));
        at += chunk;
      },
    });
  };

  it("are exactly 5 MiB, with and without a length, before and after decompression", async () => {
    const own = await newTenant();
    const headers = { "Content-Encoding": "gzip" };
    const [exact, over] = [bodyOf(LIMIT), bodyOf(LIMIT + 1)];
    for (const [body, options] of [
      [over, {}],
      [chunked(over), {}],
      [await gzip(over), { headers }],
    ] as const) {
      const answer = await send(own, body, options);
      expect([answer.status, answer.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
      expect(answer.headers.get("X-RateLimit-Remaining")).not.toBeNull();
    }
    expect(await storedEntries(own.workspaceId)).toEqual([]);
    for (const [body, options] of [
      [exact, {}],
      [chunked(exact), {}],
      [await gzip(exact), { headers }],
    ] as const) {
      expect(receiptOf(await send(own, body, options)).accepted).toBe(20);
    }
    expect(await messagesOf(own)).toHaveLength(60);
  });

  it("stop the decompression of a small body that expands a thousandfold", async () => {
    const bomb = await gzip(" ".repeat(64 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(70_000);
    const answer = await send(tenant, bomb, { headers: { "Content-Encoding": "gzip" } });
    expect([answer.status, answer.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  });

  it("allow incompressible bodies, which are stored in parts of less than 1 MB", async () => {
    const own = await newTenant();
    const noise = () =>
      Array.from(crypto.getRandomValues(new Uint8Array(60_000)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const entries = Array.from({ length: 40 }, () => ({ message: noise() }));
    expect(receiptOf(await send(own, entries)).accepted).toBe(40);
    expect(await messagesOf(own)).toEqual(entries.map(({ message }) => message));
  });
});

describe("an Idempotency-Key", () => {
  it("is 1 to 128 printable ASCII characters, or 400", async () => {
    for (const idempotencyKey of ["", "x".repeat(129), "ä", "a\tb"]) {
      const answer = await send(tenant, { message: "m" }, { idempotencyKey });
      expect([answer.status, answer.code]).toEqual([400, "VALIDATION_ERROR"]);
      expect(answer.details).toMatchObject([{ path: "Idempotency-Key" }]);
    }
    const own = await newTenant();
    for (const idempotencyKey of ["x".repeat(128), "a b", "~!'\"{}"]) {
      expect(receiptOf(await send(own, { message: "m" }, { idempotencyKey })).duplicate).toBe(false);
    }
  });
});
