import fc from "fast-check";
import { expect, test } from "vitest";
import { threadMs } from "../../test/support/thread-time.ts";
import { createLogger, type LogEntry, type LogLevel } from "../src/index.ts";
import { memoryTransport } from "../src/testing.ts";

const KEY = "sk_0123456789ab0123456789";
const memory = memoryTransport();
const logger = createLogger({ transport: memory, apiKey: KEY });

const RUNS = Number(process.env.FUZZ_RUNS ?? 5000);

/** Returns the entry of one call. */
function entryOf(data: unknown, message = "entry"): LogEntry {
  memory.clear();
  // SAFETY: untyped callers pass anything.
  logger.info(message, data as object);
  const [entry] = memory.entries;
  if (!entry) throw new Error("No entry.");
  return entry;
}

function dataOf(data: unknown): Record<string, unknown> {
  return entryOf(data).data ?? {};
}

test("represents values without a JSON form", () => {
  const data = dataOf({
    big: 2n ** 70n,
    date: new Date(0),
    invalid: new Date(Number.NaN),
    map: new Map<string, unknown>([["a", new Set([1, "x"])]]),
    pairs: new Map([[{ id: 1 }, 2]]),
    symbol: Symbol("s"),
    named() {},
    pattern: /a+/g,
    bytes: new Uint8Array(5),
    boxed: [Object(3), Object("s"), Object(true), Object(7n)],
    nan: Number.NaN,
    infinity: -Infinity,
    unsafe: 2 ** 60,
    huge: 1e300,
    nothing: undefined,
    list: [undefined, null, () => {}],
    url: new URL("https://example.com/a?b=1"),
    params: new URLSearchParams("a=1&a=2"),
    headers: new Headers({ accept: "*/*" }),
    emoji: "😀 \u0000 \ud800",
  });
  expect(data).toEqual({
    big: "1180591620717411303424",
    date: "1970-01-01T00:00:00.000Z",
    invalid: null,
    map: { a: [1, "x"] },
    pairs: [[{ id: 1 }, 2]],
    symbol: "Symbol(s)",
    named: "[Function named]",
    pattern: "/a+/g",
    bytes: "[Uint8Array 5 bytes]",
    boxed: [3, "s", true, "7"],
    nan: "NaN",
    infinity: "-Infinity",
    unsafe: "1152921504606847000",
    huge: 1e300,
    list: [null, null, "[Function ]"],
    url: "https://example.com/a?b=1",
    params: [
      ["a", "1"],
      ["a", "2"],
    ],
    headers: { accept: "*/*" },
    emoji: "😀 \u0000 \ufffd",
  });
});

test("errors keep name, message, stack, causes, members and errors", () => {
  class PaymentError extends Error {
    override name = "PaymentError";
    status = 402;
  }
  const error = new PaymentError("declined", { cause: new AggregateError([new TypeError("a"), "b"], "both") });
  const found = dataOf({ error }).error;
  expect(found).toMatchObject({
    name: "PaymentError",
    message: "declined",
    status: 402,
    stack: expect.stringContaining("serialize.test.ts"),
    cause: { name: "AggregateError", message: "both", errors: [{ name: "TypeError", message: "a" }, "b"] },
  });
  expect(entryOf(error)).toMatchObject({ message: "entry", data: { error: { message: "declined" } } });
  memory.clear();
  logger.error(error);
  logger.error(error, { order: 1 });
  expect(memory.entries).toMatchObject([
    { message: "declined", data: { error: { status: 402 } } },
    { message: "declined", data: { error: { status: 402 }, order: 1 } },
  ]);
});

test("keeps the second argument if the message is an error", () => {
  memory.clear();
  const error = new Error("declined");
  logger.error(error, new TypeError("and the refund failed"));
  logger.error(error, [1, 2]);
  logger.error(error, new Map([["order", 1]]));
  logger.error(error, new Date(0));
  logger.error(error, {});
  expect(memory.entries.map(({ data }) => data)).toEqual([
    { error: expect.objectContaining({ message: "declined" }), error2: expect.objectContaining({ name: "TypeError" }) },
    { error: expect.anything(), value: [1, 2] },
    { error: expect.anything(), value: { order: 1 } },
    { error: expect.anything(), value: "1970-01-01T00:00:00.000Z" },
    { error: expect.anything() },
  ]);
});

test("marks values that throw or never end, and keeps their siblings", () => {
  const circular: Record<string, unknown> = { a: 1 };
  circular.self = { again: circular };
  let deep: unknown = {};
  for (let i = 0; i < 20_000; i++) deep = { deep };
  const shared = { x: 1 };
  const data = dataOf({
    get getter() {
      throw new Error("no");
    },
    json: {
      toJSON() {
        throw new Error("no");
      },
    },
    proxy: new Proxy(
      {},
      {
        ownKeys() {
          throw new Error("no");
        },
      },
    ),
    revoked: (() => {
      const { proxy, revoke } = Proxy.revocable({}, {});
      revoke();
      return proxy;
    })(),
    list: Object.defineProperty([1, 2, 3], 1, {
      get() {
        throw new Error("no");
      },
    }),
    circular,
    deep,
    twice: [shared, shared],
    after: "here",
  });
  expect(data).toMatchObject({
    getter: "[Throws]",
    json: "[Throws]",
    proxy: "[Throws]",
    revoked: "[Throws]",
    list: [1, "[Throws]", 3],
    circular: { a: 1, self: { again: "[Circular]" } },
    twice: [{ x: 1 }, { x: 1 }],
    after: "here",
  });
  expect(JSON.stringify(data.deep)).toContain("[Depth]");
  expect(JSON.stringify(data.deep).split("{").length - 1).toBeLessThanOrEqual(32);
});

test("truncates and marks entries that are too large for the service", () => {
  const cases: [string, unknown][] = [
    ["x".repeat(400_000), { kept: 1 }],
    ["é".repeat(400_000), { kept: 1 }],
    ["\u0001".repeat(400_000), { kept: 1 }],
    ["m", { text: "y".repeat(400_000), last: 1 }],
    ["m", { list: Array.from({ length: 200_000 }, (_, i) => i) }],
    ["m", Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`member${i}`, i]))],
    ["m", new Map([["k".repeat(300_000), 1]])],
    ["m", { holes: new Array(2 ** 32 - 1) }],
    ["m", nestedNames()],
  ];
  for (const [message, data] of cases) {
    const entry = entryOf(data, message);
    const json = JSON.stringify(entry);
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(256 * 1024);
    expect(json).toContain("[Truncated");
  }
  expect(entryOf({ kept: 1 }, "x".repeat(400_000)).data).toEqual({ kept: 1 });
});

test("limits the values of an entry to the service's limit", () => {
  const values = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce((sum: number, member) => sum + values(member), 1)
      : 1;
  const cases = [
    { list: Array.from({ length: 100_000 }, () => 0), last: 1 },
    { list: Array.from({ length: 30_000 }, () => ({})) },
    Object.fromEntries(Array.from({ length: 30_000 }, (_, index) => [index.toString(36), 0])),
  ];
  for (const data of cases) {
    const entry = entryOf(data, "m");
    expect(values(entry)).toBeGreaterThan(19_000);
    expect(values(entry)).toBeLessThanOrEqual(20_000);
    expect(JSON.stringify(entry)).toContain("[Truncated]");
  }
  // The limit applies to each entry separately.
  expect(entryOf({ list: [1, 2, 3] }, "m").data).toEqual({ list: [1, 2, 3] });
});

/** Nested long names at the end of the room of an entry. */
function nestedNames(): object {
  let inner: object = {};
  for (let i = 0; i < 40; i++) inner = { ["\u0001".repeat(256)]: inner };
  return { filler: "x".repeat(255_000), inner };
}

test("a getter that logs creates its own entry and keeps the outer one whole", () => {
  memory.clear();
  logger.info("outer", {
    a: 1,
    get b() {
      logger.info("inner", { c: "é" });
      return 2;
    },
    d: 3,
  });
  expect(memory.entries.map(({ message, data }) => [message, data])).toEqual([
    ["inner", { c: "é" }],
    ["outer", { a: 1, b: 2, d: 3 }],
  ]);
});

test("a getter that logs a large entry late in another keeps both whole", () => {
  const lines: string[] = [];
  const meta = createLogger({
    transport: { write: (json) => lines.push(json) },
    defaultMeta: { m: "m".repeat(60_000) },
  });
  const inner = (left: number): object => ({
    filler: "x".repeat(240_000),
    get more() {
      if (left > 0) meta.info("inner", inner(left - 1));
      return left;
    },
  });
  meta.info("outer", inner(3));
  const entries = lines.map((line): LogEntry => JSON.parse(line));
  expect(entries.map(({ message }) => message)).toEqual(["inner", "inner", "inner", "outer"]);
  expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(256 * 1024);
});

test("ends the recursion of getters that log", () => {
  memory.clear();
  const endless = (): object => ({
    get more() {
      logger.info("inner", endless());
      return 1;
    },
  });
  logger.info("outer", endless());
  expect(memory.entries.length).toBeLessThan(10);
  expect(memory.entries.at(-1)).toMatchObject({ message: "outer", data: { more: 1 } });
});

test("keeps the entry of a proxy that throws, with the logger's fields", () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const texts: string[] = [];
  const errors: Error[] = [];
  const meta = createLogger({
    transport: { write: (json) => texts.push(json) },
    defaultMeta: { service: "a", constructor: "b" },
    onError: (error) => errors.push(error),
  });
  meta.info("revoked", proxy);
  meta.info("own", { service: "c" });
  expect(errors).toEqual([]);
  expect(texts.map((json) => JSON.parse(json).data)).toEqual([
    { service: "a", constructor: "b", value: "[Throws]" },
    // An inherited member is not a field of the call.
    { service: "c", constructor: "b" },
  ]);
});

test("truncates logger fields by bytes, and leaves out a field whose toJSON returns undefined", () => {
  const texts: string[] = [];
  const wide = createLogger({
    transport: { write: (json) => texts.push(json) },
    defaultMeta: { wide: "漢".repeat(60_000) },
  });
  wide.info("x".repeat(200_000), { a: 1 });
  expect(JSON.parse(texts[0] ?? "").data).toEqual({ "[Truncated]": true, a: 1 });
  wide.child({ toJSON: () => "text", kept: 1 }).info("child");
  expect(JSON.parse(texts[1] ?? "").message).toBe("child");
});

test("keeps the siblings of a function without a name, and shows buffers as bytes", () => {
  const odd = Object.defineProperty(() => {}, "name", { value: Symbol("s") });
  expect(dataOf({ odd, buffer: Buffer.from("secret"), kept: 1 })).toEqual({
    odd: "[Throws]",
    buffer: "[Uint8Array 6 bytes]",
    kept: 1,
  });
});

test("messages of any kind make an entry", () => {
  memory.clear();
  for (const message of ["", undefined, null, 5, { a: 1 }, Symbol("x"), 5n]) {
    // SAFETY: untyped callers pass anything.
    logger.info(message as string);
  }
  expect(memory.entries.map(({ message }) => message)).toEqual([
    "(no message)",
    "undefined",
    "null",
    "5",
    '{"a":1}',
    '"Symbol(x)"',
    '"5"',
  ]);
});

test("an object whose toJSON returns undefined is null, also as data itself", () => {
  const nothing = { toJSON: () => undefined };
  expect(dataOf({ nothing, list: [nothing] })).toEqual({ nothing: null, list: [null] });
  expect(dataOf(nothing)).toEqual({ value: null });
});

test("writes numbers like JavaScript", () => {
  const numbers = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -2e15, max: 2e15 }),
    fc.integer(),
    fc.integer({ min: -2_000_000, max: 2_000_000_000 }).map((n) => n / 1000),
    fc.constantFrom(0, -0, 0.001, 0.1 + 0.2, 1.005, 999_999.999, 1e6, 1e6 + 0.5, 2 ** 31 - 1, 2 ** 31, 5e-324),
  );
  const texts: string[] = [];
  const plain = createLogger({ transport: { write: (json) => texts.push(json) } });
  fc.assert(
    fc.property(numbers, (n) => {
      plain.info("n", { n });
      expect(texts.pop()).toContain(`"data":{"n":${JSON.stringify(n)}}`);
    }),
    { numRuns: 20_000 },
  );
});

test("writes plain values like JSON.stringify", () => {
  const leaf = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc.string({ unit: "binary-ascii", maxLength: 20 }),
    fc.constantFrom("\u2028", "\u0000\u001f\u007f", "\\u0041", "a b", 'say "x"', "\ufeff", ""),
    fc.integer(),
    fc.double({ noNaN: true, min: -1e15, max: 1e15 }),
    fc.boolean(),
    fc.constantFrom(null, undefined),
  );
  // Few names in random order, because the encoder predicts the next name by the previous one.
  const name = fc.oneof(
    fc.constantFrom(
      "a",
      "b",
      "c",
      "id",
      "name",
      "1",
      "__proto__",
      "constructor",
      "length",
      "é",
      '"',
      "\n",
      "d".repeat(40),
    ),
    fc.string({ unit: "grapheme", maxLength: 8 }),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "medium" },
      leaf,
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(name, tie("value"), { maxKeys: 6 }),
    ),
  }));
  // Excludes values that would be masked.
  const isPlain = (json: string) =>
    !/pass|secret|token|authori|cookie|credential|bearer|signature|key|pwd|auth|jwt|ssn|cvv|cvc|pin|[cx]srf|[:/]{3}/i.test(
      json,
    );
  fc.assert(
    fc.property(fc.dictionary(name, value, { maxKeys: 6 }), (data) => {
      fc.pre(isPlain(JSON.stringify(data)));
      expect(dataOf(data)).toEqual(JSON.parse(JSON.stringify(data)));
    }),
    { numRuns: RUNS / 2 },
  );
}, 600_000);

test("12 of 12 planted secrets are masked", () => {
  const secret = "hunter2-hunter2";
  const planted: Record<string, unknown> = {
    deep: { a: { b: { c: { d: { e: [{ password: secret }] } } } } },
    anyCase: { PassWord: secret },
    spelling: { "X-API-Key": secret, api_key: secret, apikey: secret },
    map: new Map([["client_secret", secret]]),
    mapOfMaps: new Map([[1, new Map([["refreshToken", secret]])]]),
    error: Object.assign(new Error("failed"), { accessToken: secret }),
    jsonInString: JSON.stringify({ user: 1, nested: { secret } }),
    jsonInText: `body was {"password":"${secret}","x":1} and ${JSON.stringify(JSON.stringify({ token: secret }))}`,
    query: `https://example.com/cb?access_token=${secret}&x=1`,
    header: `Authorization: Bearer ${secret}`,
    scheme: `sent Bearer ${secret} on`,
    userInfo: `postgres://app:${secret}@db/x`,
    object: { credentials: { id: "x", value: secret } },
    list: { cookies: [secret, { a: secret }] },
    pairs: [["authorization", secret]],
    ownKey: `it is ${KEY}!`,
  };
  for (const [name, value] of Object.entries(planted)) {
    const json = JSON.stringify(dataOf({ [name]: value }));
    expect(json, name).not.toContain(secret);
    expect(json, name).not.toContain(KEY);
    expect(json, name).toContain("[REDACTED]");
  }
  const inMessage = entryOf(undefined, `login password=${secret} with ${KEY} failed`).message;
  expect(inMessage).toBe("login password=[REDACTED] with [REDACTED] failed");
  expect(entryOf(Object.assign(new Error(`token=${secret}`, { cause: { apiKey: secret } }))).data).not.toContain(
    secret,
  );
});

test("masks secrets in any spelling, at any truncation of a text, and in lists of headers", () => {
  const secret = "hunter2-hunter2";
  const texts: string[] = [];
  const own = createLogger({
    transport: { write: (json) => texts.push(json) },
    apiKey: KEY,
    redact: ["taxId", "密码"],
  });
  const planted: Record<string, unknown> = {
    escapedName: `{"p\\u0061ssword":"${secret}"}`,
    snakeInJson: `{"card_number":"${secret}","pass_word":"${secret}"}`,
    snakeInQuery: `https://example.com/?card_number=${secret}`,
    ownInJson: `{"tax_id":"${secret}"}`,
    ownInQuery: `?tax-id=${secret}`,
    longName: { [`${"x".repeat(300)}password`]: secret },
    rawHeaders: ["Host", "a", "X-Api-Key", secret, "Cookie", `sid=${secret}`],
    tab: `basic\t${secret}`,
    quotedTwice: `x = "{\\"password\\":\\"a\\\\\\"${secret}\\"}"`,
    quotedAndCut: `x = "{\\"password\\":\\"${secret}`,
    nestedInText: `body {"credentials":{"a":{"b":[1]},"c":"${secret}"}} end`,
    nestedAndCut: JSON.stringify({ credentials: { a: { b: 1 }, c: secret }, filler: "x".repeat(300_000) }),
  };
  for (const [name, value] of Object.entries(planted)) {
    own.info("m", { value });
    expect(texts.at(-1), name).not.toContain(secret);
    expect(texts.at(-1), name).toContain("[REDACTED]");
  }
  own.info("m", { 密码: secret, 名前: "Ann" });
  expect(JSON.parse(texts.at(-1) ?? "").data).toEqual({ 密码: "[REDACTED]", 名前: "Ann" });
  expect(dataOf({ words: ["Password", "x", "name"] }).words).toEqual(["Password", "x", "name"]);
});

test("masks numbers, unless the name is one of a count", () => {
  expect(dataOf({ pin: 1234, card_number: 4111_1111, cvv: { a: 1 }, maxTokens: 5, maxTokensText: "5" })).toEqual({
    pin: "[REDACTED]",
    card_number: "[REDACTED]",
    cvv: "[REDACTED]",
    maxTokens: 5,
    maxTokensText: "[REDACTED]",
  });
});

test("a truncation leaves no part of the own key", () => {
  const key = `sk_${"0123456789abcdef".repeat(4)}`;
  const texts: string[] = [];
  const own = createLogger({ transport: { write: (json) => texts.push(json) }, apiKey: key });
  const filler = "x".repeat(252 * 1024 - 400);
  for (let before = 0; before < 300; before++) {
    own.info("m", { filler, text: `${"z".repeat(before)}${key}${"y".repeat(500)}` });
    const text = texts.pop();
    expect(text).toContain("[Truncated]");
    expect(text).not.toContain("sk_");
  }
});

test("keeps values whose names only sound secret", () => {
  expect(
    dataOf({
      maxTokens: 512,
      usage: { promptTokens: 3 },
      tokenizer: "x",
      hasPassword: true,
      key: "a=b",
      monkey: "k: v",
      author: "Ann",
      password: null,
    }),
  ).toEqual({
    maxTokens: 512,
    usage: { promptTokens: 3 },
    tokenizer: "x",
    hasPassword: true,
    key: "a=b",
    monkey: "k: v",
    author: "Ann",
    password: null,
  });
});

test("masks configured names in members and in text", () => {
  const own = memoryTransport();
  createLogger({ transport: own, redact: ["iban", "contraseña"] }).info("iban=DE123 sent, contraseña: DE123", {
    IBAN: "DE123",
    text: '{"i_ban":1,"iban":"DE123"}',
  });
  expect(JSON.stringify(own.entries)).not.toContain("DE123");
});

test("searches any text in linear time", () => {
  const start = threadMs();
  for (const text of [
    "a".repeat(200_000),
    "key".repeat(60_000),
    "token ".repeat(30_000),
    '"'.repeat(200_000),
    "\\".repeat(200_000),
    `${" ".repeat(200_000)}password`,
    "password:".repeat(20_000),
    "://a".repeat(50_000),
    "{".repeat(200_000),
  ]) {
    entryOf({ text: `password ${text}` });
  }
  expect(threadMs() - start).toBeLessThan(5000);
});

/** Random values with all features that JSON, redaction and limits must handle. */
const anything = fc.letrec<{ value: unknown; leaf: unknown; object: object }>((tie) => ({
  leaf: fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.double(),
    fc.integer(),
    fc.bigInt(),
    fc.boolean(),
    fc.constantFrom(undefined, null, Symbol("x"), Symbol.iterator, Object.create(null), new Date(Number.NaN)),
    fc.constantFrom(
      ...[
        "password=x",
        '{"token":"a',
        "Bearer abcdefgh",
        "://a:b@c",
        KEY,
        "x".repeat(300_000),
        "\ud800".repeat(90_000),
        '{"a":{"b":"\\"',
      ].map(String),
    ),
    fc.date({ noInvalidDate: false }),
    fc.func(fc.integer()),
    fc.uint8Array(),
    fc.float64Array(),
  ),
  object: fc.oneof(
    fc.dictionary(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.constantFrom("password", "toJSON", "__proto__", "constructor", "then"),
      ),
      tie("value"),
      { maxKeys: 5 },
    ),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((pairs) => new Map(pairs)),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => new Set(items)),
    tie("value").map((cause) => new Error("e", { cause })),
    fc.array(tie("value"), { maxLength: 2 }).map((errors) => new AggregateError(errors)),
    tie("value").map((value) => ({
      get thrown() {
        throw value;
      },
      kept: 1,
    })),
    tie("value").map((value) => ({ toJSON: () => value })),
    tie("value").map(
      (value) =>
        new Proxy(
          { value },
          {
            get(target, name) {
              if (name === "value") throw new Error("trap");
              return Reflect.get(target, name);
            },
          },
        ),
    ),
    tie("value").map(
      (value) =>
        new Proxy([value], {
          getPrototypeOf() {
            throw new Error("trap");
          },
        }),
    ),
    tie("value").map((value) => {
      const circular: Record<string, unknown> = { value };
      circular.self = circular;
      return circular;
    }),
    fc.integer({ min: 1, max: 400 }).map((depth) => {
      let deep: object = {};
      for (let i = 0; i < depth; i++) deep = i % 2 ? [deep] : { deep };
      return deep;
    }),
  ),
  value: fc.oneof({ depthSize: "small" }, tie("leaf"), tie("object")),
}));

test(`${RUNS} random values: no throw, always valid JSON within the limits, the entry always present`, () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), anything.value), anything.value, (message, data) => {
      const lines: string[] = [];
      const fuzzed = createLogger({ transport: { write: (json) => lines.push(json) }, apiKey: KEY });
      // SAFETY: untyped callers pass anything.
      fuzzed.error(message as string, data as object);
      expect(lines.length).toBe(1);
      const entry: LogEntry = JSON.parse(lines[0] ?? "");
      expect(entry.level satisfies LogLevel).toBe("error");
      expect(entry.message.length).toBeGreaterThan(0);
      expect(Buffer.byteLength(lines[0] ?? "")).toBeLessThanOrEqual(256 * 1024);
      expect(lines[0]).not.toContain(KEY);
    }),
    { numRuns: RUNS },
  );
}, 600_000);
